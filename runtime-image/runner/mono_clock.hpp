// The one clock of the runner: CLOCK_MONOTONIC in milliseconds. Decisions get it as a number, so tests turn
// it by hand.
#pragma once

#include <time.h>

#include <cstdint>

namespace mayfly::runner {

inline std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace mayfly::runner

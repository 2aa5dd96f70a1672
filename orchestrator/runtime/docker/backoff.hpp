// Growing pauses between two looks at an engine that is still busy.
#pragma once

#include <algorithm>

#include "async/with_deadline.hpp"

namespace mayfly::docker {

class Backoff {
 public:
  // False when the deadline has come.
  asio::awaitable<bool> pause(Deadline deadline) {
    if (deadline.passed()) co_return false;
    co_await sleep_until(deadline.within(next_));
    next_ = std::min(next_ * 2, kLongest);
    co_return true;
  }

 private:
  static constexpr Millis kLongest{500};
  Millis next_{10};
};

}  // namespace mayfly::docker

// Time as a dependency, so that tests turn the hands themselves.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

using Millis = std::chrono::milliseconds;
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;    // what people read; may jump
using MonoTime = std::chrono::time_point<std::chrono::steady_clock>;  // what timers use; CLOCK_MONOTONIC

// Thread safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonoTime mono() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  MonoTime mono() const override;
};

// Stands still until told otherwise.
class ManualClock final : public Clock {
 public:
  WallTime wall() const override { return WallTime(Millis(wall_ms_.load())); }
  MonoTime mono() const override { return MonoTime(std::chrono::nanoseconds(mono_ns_.load())); }
  void advance(Millis by);
  void jump_wall(Millis by) { wall_ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> wall_ms_{1'700'000'000'000};
  std::atomic<std::int64_t> mono_ns_{1'000'000'000};
};

// RFC 3339 in UTC with milliseconds: "2026-11-30T18:40:06.123Z".
std::string format_time(WallTime time);
Result<WallTime> parse_time(std::string_view text);

// "500ms", "30s", "10m", "2h", "1d", or sums of falling units ("1h30m"). A bare number has no unit and is
// refused.
Result<Millis> parse_duration(std::string_view text);
// The shortest exact form that parse_duration reads back.
std::string format_duration(Millis duration);

}  // namespace mayfly

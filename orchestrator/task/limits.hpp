// What a task may use, and for how long. Pure values; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/clock.hpp"

namespace mayfly {

// As asked in a spec: an absent field is filled by the policy's default.
struct LimitsAsked {
  std::optional<std::int64_t> millicpus{};
  std::optional<Bytes> memory{};
  std::optional<Bytes> workspace{};
  std::optional<Bytes> tmp{};
  std::optional<Bytes> shm{};
  std::optional<Bytes> log_bytes{};
  std::optional<std::uint64_t> pids{};
  std::optional<std::uint64_t> open_files{};
  std::optional<Millis> cpu_time{};  // CPU seconds of the whole tree
  friend bool operator==(const LimitsAsked&, const LimitsAsked&) = default;
};

struct TimeoutsAsked {
  std::optional<Millis> queue{}, prepare{}, start{}, run{}, idle{}, stop{}, total{};
  friend bool operator==(const TimeoutsAsked&, const TimeoutsAsked&) = default;
};

// After admission: every field has its value. A zero cpu_time or idle means "no such limit".
struct Limits {
  std::int64_t millicpus = 1000;
  Bytes memory = 512_MiB;
  Bytes workspace = 128_MiB;
  Bytes tmp = 64_MiB;
  Bytes shm = 16_MiB;
  Bytes log_bytes = 64_MiB;
  std::uint64_t pids = 128;
  std::uint64_t open_files = 1024;
  Millis cpu_time{0};
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Timeouts {
  Millis queue{std::chrono::hours(24)};
  Millis prepare{std::chrono::minutes(10)};
  Millis start{std::chrono::seconds(60)};
  Millis run{std::chrono::minutes(10)};
  Millis idle{0};
  Millis stop{std::chrono::seconds(10)};
  Millis total{std::chrono::hours(48)};
  friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

// What the sandbox really gets and the tenant is charged.
// memory = the task's + workspace (when it is a tmpfs) + /tmp + shm + the runner's reserve; pids = asked +
// the runner's.
struct Granted {
  std::int64_t millicpus = 0;
  Bytes memory{};
  std::uint64_t pids = 0;
  friend bool operator==(const Granted&, const Granted&) = default;
};

inline constexpr Bytes kRunnerMemoryReserve = 8_MiB;
inline constexpr std::uint64_t kRunnerPidReserve = 4;  // the runner, its trampoline, and the channel's exec

Granted grant(const Limits& limits);

}  // namespace mayfly

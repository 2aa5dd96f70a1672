// Limits and timeouts as people write them, in task specs and in policies. Pure; any thread.
#pragma once

#include "task/limits.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {

// The least and the most that can be meant at all. What a sandbox needs at least, and why, is said by
// admission (policy/quantities.cpp, docs/policies.md); a policy's ceilings stand below.
namespace limit_bounds {
inline constexpr Range<std::int64_t> kMillicpus{10, 1'024'000};
inline constexpr Bytes kMostBytes{1ULL << 44U};
inline constexpr Range<Bytes> kMemory{Bytes{1}, kMostBytes};
inline constexpr Range<Bytes> kTmpfs{Bytes{1}, kMostBytes};  // a tmpfs of size 0 would have no limit
inline constexpr Range<Bytes> kLog{1_KiB, kMostBytes};
inline constexpr Range<std::uint64_t> kPids{1, 4'194'304};        // the kernel's PID_MAX_LIMIT
inline constexpr Range<std::uint64_t> kOpenFiles{16, 1'048'576};  // the kernel's fs.nr_open
inline constexpr Millis kLongest = std::chrono::hours(24 * 365);
inline constexpr Range<Millis> kTimeout{Millis(1), kLongest};
inline constexpr Range<Millis> kTimeoutOrNone{Millis(0),
                                              kLongest};  // zero: no such limit, for stop: SIGKILL at once
}  // namespace limit_bounds

// Each reads an object's fields and finishes the reader: keys that are no limits are faults.
LimitsAsked read_limits(ObjectReader fields);
TimeoutsAsked read_timeouts(ObjectReader fields);
// Only what was asked for; read_… gives the same back.
// Sizes are shown in bytes, processors as a number, times as durations.
Json to_json(const LimitsAsked& limits);
Json to_json(const TimeoutsAsked& timeouts);

// The number of processors: 2, 0.5.
Json cpus_to_json(std::int64_t millicpus);

}  // namespace mayfly

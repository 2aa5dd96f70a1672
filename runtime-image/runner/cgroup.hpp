// What the sandbox's own cgroup counts, on version 1 (and hybrid) and version 2 alike, as seen from inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mayfly::runner {

// Absent: this kernel or cgroup does not count it.
struct CgroupSample {
  std::optional<std::uint64_t> cpu_us, memory, memory_peak, pids, pids_peak;
  std::optional<std::uint64_t> oom_kills;     // processes killed for memory
  std::optional<std::uint64_t> pids_refused;  // forks refused by pids.max
};

class Cgroup {
 public:
  Cgroup() = default;  // nothing to read
  // `root`: where the hierarchies are mounted; `self`: the text of /proc/self/cgroup.
  Cgroup(const std::string& root, const std::string& self);
  int version() const { return version_; }  // 0: nothing to read
  CgroupSample sample() const;

 private:
  CgroupSample sample_v1() const;
  CgroupSample sample_v2() const;

  int version_ = 0;
  std::string cpu_, memory_, pids_;  // directories; on version 2 all the same
};

// The sandbox's own: only for PID 1. Any other process shares its cgroup with strangers, and counts itself.
Cgroup make_own_cgroup();

}  // namespace mayfly::runner

// What the sandbox uses: from its cgroup where there is one, else from /proc.
#pragma once

#include "cgroup.hpp"
#include "task/task_record.hpp"
#include "tree.hpp"

namespace mayfly::runner {

class UsageMeter {
 public:
  UsageMeter(const Tree& tree, Cgroup cgroup) : tree_(tree), cgroup_(std::move(cgroup)) {}
  int cgroup_version() const { return cgroup_.version(); }

  // What was used before the task began does not count as its CPU time.
  void begin();
  // A new look; peaks are kept over all looks where the kernel keeps none.
  const CgroupSample& look();
  Usage usage(std::int64_t stalled_ms) const;
  // Of the task alone, without the runner's own work for it.
  std::int64_t task_cpu_ms() const;

 private:
  const Tree& tree_;
  Cgroup cgroup_;
  CgroupSample last_;
  std::uint64_t cpu_before_ = 0, own_cpu_before_ = 0;
  std::uint64_t memory_peak_ = 0, pids_peak_ = 0;
  std::uint64_t cpu_ms() const;
};

}  // namespace mayfly::runner

// Turns what the cgroup counts into notes: the kernel answered the task with an error and the task went on
// (limit_hit), or it killed the main process for memory. Pure.
#pragma once

#include <set>
#include <vector>

#include "cgroup.hpp"
#include "task/task_state.hpp"

namespace mayfly::runner {

enum class MainEnd { by_itself, killed_by_kernel_or_task, killed_by_us };
enum class DiskSpace { left, none_left };

class LimitWatch {
 public:
  // What was counted before the task began is not the task's.
  void begin(const CgroupSample& before);
  // The limits that were hit since; each is told once. Only while the main process lives: a rise of the OOM
  // count is believed at the second look, since the first may be the main process itself, dying.
  std::vector<LimitHit> look(const CgroupSample& now, DiskSpace disk);

  struct End {
    std::vector<LimitHit> hits;
    bool oom_killed_main = false;
  };
  // 137 alone is never called OOM: it takes a SIGKILL that was not ours, and a rise of the count.
  End look_at_end(const CgroupSample& now, MainEnd how, DiskSpace disk);

 private:
  void note(LimitHit hit, std::vector<LimitHit>& hits);
  void look_at_pids(const CgroupSample& now, std::vector<LimitHit>& hits);

  std::uint64_t oom_kills_ = 0;  // believed to be children
  bool oom_pending_ = false;
  std::uint64_t pids_refused_ = 0;
  std::set<LimitHit> told_;
};

}  // namespace mayfly::runner

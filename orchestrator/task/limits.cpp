#include "task/limits.hpp"

namespace mayfly {

// What stands in memory-backed file systems is charged to the sandbox's cgroup like the memory of its
// processes.
Granted grant(const Limits& limits) {
  return {
      .millicpus = limits.millicpus,
      .memory = limits.memory + limits.workspace + limits.tmp + limits.shm + kRunnerMemoryReserve,
      .pids = limits.pids + kRunnerPidReserve,
  };
}

}  // namespace mayfly

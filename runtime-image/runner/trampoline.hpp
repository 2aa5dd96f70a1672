// `mayfly-runner exec-child`: what stands between the runner's fork and the task's program. It is an exec of
// its own because only then is the process dumpable (and may write its oom_score_adj) and holds nothing of
// the runner's memory. Descriptors: 0 to 2 the task's, kPlanFd the bind spec, kStatusFd for a LaunchFailure.
#pragma once

#include <string>
#include <vector>

namespace mayfly::runner {

inline constexpr int kPlanFd = 3;
inline constexpr int kStatusFd = 4;
inline constexpr const char* kTrampolineArgument = "exec-child";

// Does not come back when the program runs.
int run_trampoline();

// Where execvp(3) would look for `program`: itself when it has a slash, else beneath each part of `path`.
std::vector<std::string> candidates(const std::string& program, const std::string& path);

}  // namespace mayfly::runner

// What `mayfly` tells its caller's shell. Documented in --help and docs/cli.md.
#pragma once

#include "task/task_record.hpp"

namespace mayfly::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailure = 1;         // the request was refused
inline constexpr int kUsage = 2;           // the command line is wrong
inline constexpr int kTimedOut = 124;      // the task ran into one of its time limits
inline constexpr int kOrchestrator = 125;  // no server, no engine, an infra or system fault
inline constexpr int kCancelled = 130;
inline constexpr int kSignalBase = 128;  // 128 + n: the task's process died by signal n

// The task's own code where its process ended by itself; the codes above elsewhere.
int exit_code_of(const TaskRecord& task);

}  // namespace mayfly::cli

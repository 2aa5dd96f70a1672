// `mayfly run`: local simulation. The same lifecycle as `serve`, composed in process: one task, its output on
// the terminal, its exit code, and nothing left.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/node.hpp"

namespace mayfly::cli {

struct RunOptions {
  std::filesystem::path state_dir;  // one slot below it is used for this run, and used again later
  std::optional<std::filesystem::path> policy_file;
  std::string engine;
  std::filesystem::path runner_binary;
  TaskSpec spec;
  std::optional<std::filesystem::path> outputs_dir;  // where results are copied; absent: they are listed only
  bool quiet = false;
  LogLevel log_level = LogLevel::warn;
};

// The task's exit code, or one of exit_codes.hpp. Blocks. The first SIGINT or SIGTERM cancels the task, the
// second leaves at once (the next `mayfly run` then cleans up).
int run(RunOptions options);

}  // namespace mayfly::cli

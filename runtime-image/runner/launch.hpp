// Starts the task's process: pipes, fork, and exec of the trampoline (trampoline.hpp). Never waits for the
// child.
#pragma once

#include <sys/types.h>

#include <optional>

#include "launch_failure.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {

// The runner's ends; all non-blocking and closed on exec.
struct Launched {
  pid_t pid = -1;
  UniqueFd in;  // invalid when the task has no stdin
  UniqueFd out, err;
  UniqueFd status;  // a LaunchFailure, or end of file once the program runs
};

// `exe` is an open descriptor of the runner's own binary. The spec reaches the child through a memfd, never
// through arguments or environment. Its `argv` must be final (no `script`).
tl::expected<Launched, Fault> launch(const channel::BindSpec& spec, int exe);

// What `status` says by now: nothing yet, the program runs, or why not.
struct LaunchOutcome {
  std::optional<LaunchFailure> failure;
};
std::optional<LaunchOutcome> read_launch_status(int status);

}  // namespace mayfly::runner

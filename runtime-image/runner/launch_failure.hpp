// Why a task's process could not be started, told by the trampoline over a pipe and put into words by the
// runner.
#pragma once

#include <cstdint>
#include <string>

#include "channel/messages.hpp"

namespace mayfly::runner {

// An end before the process ran: the cause and a sentence for people.
struct Fault {
  Reason cause = Reason::internal;
  std::string message;
};

enum class LaunchStage : std::int32_t { plan, limits, directory, filter, execute, interpreter };

// As it travels through the status pipe. No bytes at all: the process runs.
struct LaunchFailure {
  LaunchStage stage = LaunchStage::plan;
  std::int32_t error = 0;  // errno
};

Fault describe(const LaunchFailure& failure, const channel::BindSpec& spec);
// What a shell would answer for such an end: 127 not found, 126 found and not executable.
std::optional<int> exit_code_for(Reason cause);
// At most `most` bytes, cut with an ellipsis.
std::string shorten(std::string text, std::size_t most);

}  // namespace mayfly::runner

// Phase: the declared outputs, pulled through the channel while the sandbox still lives.
#pragma once

#include "lifecycle/attempt.hpp"

namespace mayfly {

struct Collected {
  std::vector<Artifact> artifacts;
  std::vector<std::string> missing;  // declared without wildcards, and not there
  std::string problem;  // in words, when the list is not complete (a bound was reached, the runner was lost)
  Reason reason = Reason::none;  // whose fault the problem is
};

// Pulls every regular file that matches, within the policy's bounds, onto disk. Never fails the task by
// itself: the verdict judges what is missing.
asio::awaitable<Collected> collect(Attempt& attempt);

}  // namespace mayfly

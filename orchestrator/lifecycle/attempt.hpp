// One try at a task in memory: its log segment, its conversation, and the carrier under it. The phases
// (launch, stream, collect, destroy) are functions over this.
#pragma once

#include <memory>

#include "async/scope.hpp"
#include "lifecycle/conversation.hpp"
#include "lifecycle/failure.hpp"
#include "lifecycle/live_task.hpp"
#include "policy/policy.hpp"

namespace mayfly {

struct Attempt {
  Attempt(Services& services, LiveTask& live_task, std::shared_ptr<const Policy> admitted_by,
          std::unique_ptr<LogWriter> log_writer);

  Services& services;
  LiveTask& task;
  std::shared_ptr<const Policy> policy;
  std::unique_ptr<LogWriter> writer;
  Conversation conversation;
  Scope carriers;  // drives the conversation; at most one at a time
  Deadline total;  // of the whole task

  const SandboxId& sandbox() const { return task.attempt().sandbox; }
};

// Raises the epoch durably, opens a carrier and lets the conversation run on it.
Async<> open_carrier(Attempt& attempt, Deadline deadline);
// Completes when the runner said hello on the carrier. cancelled when the task is wanted to end;
// engine_unreachable when the carrier was lost; conflict for a runner that was restarted.
Async<> await_hello(Attempt& attempt, Deadline deadline);
// Gives the carrier up and waits until nothing of it runs.
asio::awaitable<void> close_carrier(Attempt& attempt);

}  // namespace mayfly

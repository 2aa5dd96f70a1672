// A task's life after it was scheduled, as one short coroutine: the table of contents of this folder.
#pragma once

#include <memory>

#include "lifecycle/live_task.hpp"
#include "policy/policy.hpp"

namespace mayfly {

enum class RunOutcome { over, again };  // again: it never started and goes back to the queue

// Where an attempt begins in this process.
enum class Entry {
  launch,  // a new attempt, already recorded as reserved
  adopt,   // a sandbox of an earlier process, whose runner was bound
};

// Runs one attempt to its verdict and destroys its sandbox. Cancelled (shutdown), it leaves everything as it
// is for the next process.
asio::awaitable<RunOutcome> run_attempt(LiveTask& task, Services& services,
                                        std::shared_ptr<const Policy> policy, Entry entry);

// A verdict for a task that has no sandbox (still queued).
asio::awaitable<void> end_without_attempt(LiveTask& task, Services& services, Reason reason,
                                          std::string message);

}  // namespace mayfly

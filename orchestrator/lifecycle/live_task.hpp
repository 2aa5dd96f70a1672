// A task that has not ended (or is not yet cleaned up), in memory: the one place through which its record
// changes. All calls from the I/O thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "async/async_lock.hpp"
#include "async/notifier.hpp"
#include "lifecycle/services.hpp"
#include "task/task_record.hpp"

namespace mayfly {

// A step of a record: applied to a copy, saved with its events, and only then visible.
struct Change {
  std::function<void(TaskRecord&, AttemptRecord&)> apply;
  std::vector<NewEvent> events;
  bool unless_ended = false;  // on a task with a verdict: nothing is done, and that is no error
};

class LiveTask {
 public:
  LiveTask(Services& services, TaskRecord record);

  const TaskRecord& record() const { return record_; }
  const AttemptRecord& attempt() const { return attempt_; }
  const TaskId& id() const { return record_.id; }

  // What the store holds, when an unfinished task is taken back; before anything of it runs.
  void set_attempt(AttemptRecord attempt) { attempt_ = std::move(attempt); }

  // Saves once; the record is unchanged when that fails. Changes of one task are saved one after the other.
  Async<> try_update(Change change);
  // Saves, and tries again with backoff while the store cannot (its disk is full): a task's own steps must
  // not be lost. Ends early only by cancellation (shutdown).
  asio::awaitable<void> update(Change change);

  // Somebody wants the task to end; the first cause stays. Not saved by itself.
  bool stop_wanted() const { return record_.desired != Desired::run; }
  Reason stop_reason() const { return record_.desired_reason; }

  // Notified after every saved change: what followers of the API wait for.
  Notifier& changed() { return changed_; }
  // Notified after every saved change and by the conversation with the runner: what the task's own coroutine
  // waits for.
  Notifier& wake() { return wake_; }

 private:
  Services& services_;
  TaskRecord record_;
  AttemptRecord attempt_;
  AsyncLock lock_;
  Notifier changed_;
  Notifier wake_;
};

// Use this instead of braces inside a co_await expression: g++ 12 destroys such aggregates twice.
Change make_change(std::function<void(TaskRecord&, AttemptRecord&)> apply, std::vector<NewEvent> events = {});

// A change that only wants the task to end, with its event. `kill` goes beyond an earlier `stop`.
Change want_end(Reason reason);

}  // namespace mayfly

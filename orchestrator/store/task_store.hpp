// The durable memory of the control plane: tasks, attempts, events, usage, artifacts, idempotency keys.
// Every call that writes completes only after its transaction is on disk (SQLite WAL, synchronous=FULL);
// concurrent calls share one commit. Called from the I/O thread; a cancelled call still takes effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "async/task_types.hpp"
#include "task/task_record.hpp"

namespace mayfly {

// A new event; the store gives it its number.
struct NewEvent {
  std::string type;
  Json data;
};

struct IdempotencyKey {
  std::string scope;        // tenant and operation
  std::string key;          // as the client sent it, unquoted
  std::string fingerprint;  // SHA-256 of the canonical body
};

struct InsertOutcome {
  TaskRecord task;
  bool replayed = false;  // the key was known: this is the task of the first call
};

struct TaskFilter {
  std::optional<TenantId> tenant;
  std::vector<TaskState> states;  // empty: all
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<WallTime> submitted_after, submitted_before;
};

struct TaskPage {
  std::vector<TaskRecord> tasks;  // newest first
  std::optional<TaskId> next;     // pass as `before` for the next page
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;

  // idempotency_mismatch when the key is known with another fingerprint.
  virtual Async<InsertOutcome> insert_task(TaskRecord task, std::vector<NewEvent> events,
                                           std::optional<IdempotencyKey> key) = 0;
  // Saves the task (and the attempt, when given) and appends the events, in one transaction. conflict when
  // the stored state is terminal and `task` would change state, reason, exit_code, signal or message;
  // conflict when the stored revision is not task.revision. Returns the new revision.
  virtual Async<std::uint64_t> save(TaskRecord task, std::optional<AttemptRecord> attempt,
                                    std::vector<NewEvent> events) = 0;
  virtual Async<> save_attempt(AttemptRecord attempt) = 0;
  // Replaces the task's artifact list (before its verdict is saved).
  virtual Async<> save_artifacts(TaskId task, std::vector<Artifact> artifacts) = 0;
  virtual Async<> add_usage_samples(TaskId task, std::vector<UsageSample> samples) = 0;

  virtual Async<TaskRecord> get_task(TaskId id) = 0;  // not_found
  virtual Async<TaskPage> list_tasks(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) = 0;
  // Everything that is not terminal or whose cleanup is pending, oldest first: what a start-up works through.
  virtual Async<std::vector<TaskRecord>> unfinished_tasks() = 0;
  virtual Async<std::vector<AttemptRecord>> attempts_of(TaskId id) = 0;
  virtual Async<std::optional<AttemptRecord>> find_attempt_by_sandbox(SandboxId id) = 0;
  virtual Async<std::vector<TaskEvent>> events_after(TaskId id, std::uint64_t seq, std::size_t limit) = 0;
  virtual Async<std::vector<Artifact>> artifacts_of(TaskId id) = 0;
  virtual Async<std::vector<UsageSample>> usage_of(TaskId id, std::size_t limit) = 0;
  // Terminal, clean tasks whose verdict is older, oldest first, at most `limit`.
  virtual Async<std::vector<TaskId>> finished_before(WallTime verdict_before, std::size_t limit) = 0;
  // Removes them with all their rows; one that is not terminal and clean stays.
  virtual Async<> remove_tasks(std::vector<TaskId> ids) = 0;
  // Idempotency keys older than this are forgotten.
  virtual Async<> forget_keys_before(WallTime created_before) = 0;

  // A small durable map for the installation's own facts (installation id, …).
  virtual Async<std::optional<std::string>> get_setting(std::string name) = 0;
  virtual Async<> put_setting(std::string name, std::string value) = 0;

  // Stops accepting calls, commits what is queued, closes the database.
  virtual Async<> close() = 0;
};

}  // namespace mayfly

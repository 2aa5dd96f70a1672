#include "store/task_writes.hpp"

#include <utility>

#include "base/json.hpp"
#include "store/task_reads.hpp"

namespace mayfly::task_writes {
namespace {

// The stored form in two pieces: the spec, which never changes, and the rest.
struct StoredTask {
  std::string body;
  std::string spec;
};

StoredTask to_stored(const TaskRecord& task) {
  Json body = to_stored_json(task);
  const Json spec = std::exchange(body["spec"], nullptr);
  return {.body = dump_json(body), .spec = dump_json(spec)};
}

bool is_unfinished(const TaskRecord& task) {
  return !is_terminal(task.state) || task.cleanup_pending;
}

// What retention goes by: a terminal task has a time here even when it never got a verdict of its own.
std::optional<WallTime> verdict_time(const TaskRecord& task, WallTime now) {
  if (task.times.verdict || !is_terminal(task.state)) return task.times.verdict;
  return now;
}

Result<> append_events(Database& database, std::int64_t task, const std::vector<NewEvent>& events,
                       WallTime now) {
  if (events.empty()) return {};
  const auto last = database.number("SELECT coalesce(max(seq), 0) FROM events WHERE task = ?", {task});
  if (!last) return fail_with(last);
  std::int64_t seq = *last;
  for (const NewEvent& event : events) {
    const std::string data = dump_json(event.data);
    auto added = database.run("INSERT INTO events (task, seq, at_ms, type, data) VALUES (?, ?, ?, ?, ?)",
                              {task, ++seq, now, event.type, data});
    if (!added) return added;
  }
  return {};
}

Result<> upsert_attempt(Database& database, std::int64_t task, const AttemptRecord& attempt) {
  const std::string body = dump_json(to_stored_json(attempt));
  return database.run(
      "INSERT INTO attempts (id, task, number, sandbox, state, body) VALUES (?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body",
      {attempt.id, task, attempt.number, attempt.sandbox, name_of(attempt.state), body});
}

// The outcome of the first call with this key; nothing when the key is new.
Result<std::optional<InsertOutcome>> replay(Database& database, const IdempotencyKey& key) {
  TaskId task;
  {
    auto known = database.query("SELECT fingerprint, task FROM idempotency_keys WHERE scope = ? AND key = ?",
                                {key.scope, key.key});
    if (!known) return fail_with(known);
    const auto row = known->next();
    if (!row) return fail_with(row);
    if (!*row) return std::nullopt;
    if (known->text(0) != key.fingerprint) {
      return fail(ErrorCode::idempotency_mismatch,
                  "this idempotency key was used for another request: use a new key for a new request");
    }
    task = TaskId(std::string(known->text(1)));
  }
  auto first = task_reads::get_task(database, task);
  if (!first && first.error().code == ErrorCode::not_found) {
    return fail(ErrorCode::gone,
                "the task " + task.str() + " of this idempotency key was removed by retention");
  }
  if (!first) return fail_with(first);
  return InsertOutcome{.task = std::move(*first), .replayed = true};
}

Result<> insert_rows(Database& database, const TaskRecord& task, WallTime now) {
  const StoredTask stored = to_stored(task);
  auto inserted = database.run(
      "INSERT INTO tasks (id, tenant, state, reason, exit_code, signal, message, submitted_ms, verdict_ms, "
      "cleanup_pending, unfinished, revision, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {task.id, task.tenant, name_of(task.state), name_of(task.reason), task.exit_code, task.signal,
       task.message, task.times.submitted, verdict_time(task, now), task.cleanup_pending, is_unfinished(task),
       task.revision, stored.body});
  if (!inserted) return inserted;
  const std::int64_t n = database.last_insert_rowid();
  if (auto added = database.run("INSERT INTO specs (task, spec) VALUES (?, ?)", {n, stored.spec}); !added) {
    return added;
  }
  for (const auto& [name, value] : task.spec.labels) {
    auto added = database.run("INSERT INTO labels (name, value, task) VALUES (?, ?, ?)", {name, value, n});
    if (!added) return added;
  }
  return {};
}

// What stands in the table now, as far as a save is checked against it.
struct Standing {
  std::int64_t n = 0;
  std::string state, reason, message;
  std::optional<int> exit_code, signal;
  std::uint64_t revision = 0;
};

Result<Standing> find_standing(Database& database, const TaskId& id) {
  auto query = database.query(
      "SELECT n, state, reason, message, exit_code, signal, revision FROM tasks WHERE id = ?", {id});
  if (!query) return fail_with(query);
  const auto row = query->next();
  if (!row) return fail_with(row);
  if (!*row) return fail(ErrorCode::not_found, "no task " + id.str());
  Standing standing;
  standing.n = query->integer(0);
  standing.state = query->text(1);
  standing.reason = query->text(2);
  standing.message = query->text(3);
  if (!query->is_null(4)) standing.exit_code = static_cast<int>(query->integer(4));
  if (!query->is_null(5)) standing.signal = static_cast<int>(query->integer(5));
  standing.revision = static_cast<std::uint64_t>(query->integer(6));
  return standing;
}

Result<> check_may_replace(const Standing& standing, const TaskRecord& task) {
  if (standing.revision != task.revision) {
    return fail(ErrorCode::conflict, "task " + task.id.str() + " has revision " +
                                         std::to_string(standing.revision) + ", this change was made on " +
                                         std::to_string(task.revision) + ": read it again");
  }
  const auto state = find_task_state(standing.state);
  if (!state)
    return fail(ErrorCode::corrupt, "task " + task.id.str() + " has no known state: " + standing.state);
  const bool same_verdict = standing.state == name_of(task.state) &&
                            standing.reason == name_of(task.reason) && standing.message == task.message &&
                            standing.exit_code == task.exit_code && standing.signal == task.signal;
  if (is_terminal(*state) && !same_verdict) {
    return fail(ErrorCode::conflict,
                "task " + task.id.str() + " has ended as " + standing.state + ": a verdict never changes");
  }
  return {};
}

Result<> update_row(Database& database, std::int64_t n, const TaskRecord& task, WallTime now) {
  const std::string body = to_stored(task).body;
  return database.run(
      "UPDATE tasks SET state = ?, reason = ?, exit_code = ?, signal = ?, message = ?, verdict_ms = ?, "
      "cleanup_pending = ?, unfinished = ?, revision = ?, body = ? WHERE n = ?",
      {name_of(task.state), name_of(task.reason), task.exit_code, task.signal, task.message,
       verdict_time(task, now), task.cleanup_pending, is_unfinished(task), task.revision, body, n});
}

}  // namespace

Result<InsertOutcome> insert_task(Database& database, TaskRecord task, const std::vector<NewEvent>& events,
                                  const std::optional<IdempotencyKey>& key, WallTime now) {
  if (key) {
    auto replayed = replay(database, *key);
    if (!replayed) return fail_with(replayed);
    if (*replayed) return std::move(**replayed);
  }
  task.revision = 1;
  if (auto inserted = insert_rows(database, task, now); !inserted) return fail_with(inserted);
  const auto n = task_reads::number_of(database, task.id);
  if (!n) return fail_with(n);
  if (auto added = append_events(database, *n, events, now); !added) return fail_with(added);
  if (key) {
    auto kept = database.run(
        "INSERT INTO idempotency_keys (scope, key, fingerprint, task, created_ms) VALUES (?, ?, ?, ?, ?)",
        {key->scope, key->key, key->fingerprint, task.id, now});
    if (!kept) return fail_with(kept);
  }
  return InsertOutcome{.task = std::move(task)};
}

Result<std::uint64_t> save(Database& database, TaskRecord task, const std::optional<AttemptRecord>& attempt,
                           const std::vector<NewEvent>& events, WallTime now) {
  const auto standing = find_standing(database, task.id);
  if (!standing) return fail_with(standing);
  if (auto allowed = check_may_replace(*standing, task); !allowed) return fail_with(allowed);
  ++task.revision;
  if (auto updated = update_row(database, standing->n, task, now); !updated) return fail_with(updated);
  if (attempt) {
    if (auto saved = upsert_attempt(database, standing->n, *attempt); !saved) return fail_with(saved);
  }
  if (auto added = append_events(database, standing->n, events, now); !added) return fail_with(added);
  return task.revision;
}

Result<> save_attempt(Database& database, const AttemptRecord& attempt) {
  const auto n = task_reads::number_of(database, attempt.task);
  if (!n) return fail_with(n);
  return upsert_attempt(database, *n, attempt);
}

Result<> save_artifacts(Database& database, const TaskId& task, const std::vector<Artifact>& artifacts) {
  const auto n = task_reads::number_of(database, task);
  if (!n) return fail_with(n);
  if (auto removed = database.run("DELETE FROM artifacts WHERE task = ?", {*n}); !removed) return removed;
  for (const Artifact& artifact : artifacts) {
    auto added =
        database.run("INSERT INTO artifacts (task, path, size, sha256, mode) VALUES (?, ?, ?, ?, ?)",
                     {*n, SqlBlob{artifact.path}, artifact.size.count, artifact.sha256, artifact.mode});
    if (!added) return added;
  }
  return {};
}

Result<> add_usage_samples(Database& database, const TaskId& task, const std::vector<UsageSample>& samples) {
  const auto n = task_reads::number_of(database, task);
  if (!n) return fail_with(n);
  for (const auto& [at, usage] : samples) {
    auto added = database.run(
        "INSERT OR REPLACE INTO usage_samples (task, at_ms, cpu_ms, memory_bytes, memory_peak_bytes, pids, "
        "pids_peak, "
        "stalled_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {*n, at, usage.cpu_ms, usage.memory_bytes, usage.memory_peak_bytes, usage.pids, usage.pids_peak,
         usage.stalled_ms});
    if (!added) return added;
  }
  return {};
}

Result<> remove_tasks(Database& database, const std::vector<TaskId>& ids) {
  for (const TaskId& id : ids) {
    if (auto gone = database.run("DELETE FROM tasks WHERE id = ? AND unfinished = 0", {id}); !gone)
      return gone;
  }
  return {};
}

Result<> forget_keys_before(Database& database, WallTime created_before) {
  return database.run("DELETE FROM idempotency_keys WHERE created_ms < ?", {created_before});
}

Result<> put_setting(Database& database, const std::string& name, const std::string& value) {
  return database.run(
      "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = "
      "excluded.value",
      {name, value});
}

}  // namespace mayfly::task_writes

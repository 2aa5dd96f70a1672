// The writing half of the task store: each function is the body of one call, inside a transaction of the
// commit queue. Blocking; on the queue's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "store/task_store.hpp"

namespace mayfly::task_writes {

Result<InsertOutcome> insert_task(Database& database, TaskRecord task, const std::vector<NewEvent>& events,
                                  const std::optional<IdempotencyKey>& key, WallTime now);
Result<std::uint64_t> save(Database& database, TaskRecord task, const std::optional<AttemptRecord>& attempt,
                           const std::vector<NewEvent>& events, WallTime now);
Result<> save_attempt(Database& database, const AttemptRecord& attempt);
Result<> save_artifacts(Database& database, const TaskId& task, const std::vector<Artifact>& artifacts);
Result<> add_usage_samples(Database& database, const TaskId& task, const std::vector<UsageSample>& samples);
Result<> remove_tasks(Database& database, const std::vector<TaskId>& ids);
Result<> forget_keys_before(Database& database, WallTime created_before);
Result<> put_setting(Database& database, const std::string& name, const std::string& value);

}  // namespace mayfly::task_writes

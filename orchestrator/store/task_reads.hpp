// The reading half of the task store. Each function sees one consistent state of the database per statement.
// Blocking; on the reader's thread, or inside a write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "store/task_store.hpp"

namespace mayfly::task_reads {

Result<TaskRecord> get_task(Database& database, const TaskId& id);
Result<TaskPage> list_tasks(Database& database, const TaskFilter& filter, std::size_t limit,
                            const std::optional<TaskId>& before);
Result<std::vector<TaskRecord>> unfinished_tasks(Database& database);
Result<std::vector<AttemptRecord>> attempts_of(Database& database, const TaskId& id);
Result<std::optional<AttemptRecord>> find_attempt_by_sandbox(Database& database, const SandboxId& id);
Result<std::vector<TaskEvent>> events_after(Database& database, const TaskId& id, std::uint64_t seq,
                                            std::size_t limit);
Result<std::vector<Artifact>> artifacts_of(Database& database, const TaskId& id);
Result<std::vector<UsageSample>> usage_of(Database& database, const TaskId& id, std::size_t limit);
Result<std::vector<TaskId>> finished_before(Database& database, WallTime verdict_before, std::size_t limit);
Result<std::optional<std::string>> get_setting(Database& database, const std::string& name);

// The rowid of a task; not_found.
Result<std::int64_t> number_of(Database& database, const TaskId& id);

}  // namespace mayfly::task_reads

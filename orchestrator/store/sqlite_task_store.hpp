// The task store on SQLite: data_dir/tasks.db, written by the commit queue's thread, read by another.
#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "store/task_store.hpp"

namespace mayfly {

// Takes the data directory's lock, brings the database to this build's version, and starts the threads.
// Blocking; at start-up. `clock` stamps events and keys. Errors: conflict (another server has the directory,
// or a newer build wrote it), corrupt, forbidden, disk_full, io. The store must be destroyed before the
// io_context of its callers.
Result<std::unique_ptr<TaskStore>> open_sqlite_task_store(const std::filesystem::path& data_dir,
                                                          const Clock& clock, Metrics& metrics);

}  // namespace mayfly

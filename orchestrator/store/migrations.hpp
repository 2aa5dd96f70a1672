// The schema of the task database, as the steps that led to it. Forward only; each step is one transaction.
// Blocking.
#pragma once

#include <span>

#include "store/database.hpp"

namespace mayfly {

struct Migration {
  int version;  // PRAGMA user_version after it; steps rise by one
  const char* sql;
};

// PRAGMA application_id of our databases: "Mfly".
inline constexpr std::int64_t kApplicationId = 0x4d666c79;

// All steps of this build, oldest first.
std::span<const Migration> task_store_migrations();

// Brings a new or older database to the last step. Errors: corrupt when the file is another program's
// database, conflict when a newer build wrote it (nothing is changed then), disk_full, io.
Result<> migrate(Database& database, std::span<const Migration> steps);

}  // namespace mayfly

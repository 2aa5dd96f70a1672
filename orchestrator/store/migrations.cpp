#include "store/migrations.hpp"

#include <string>

namespace mayfly {
namespace {

// `tasks.n` is the order of acceptance. A task's spec never changes, so it lies apart from the body that
// every save rewrites. Columns beside `body` repeat what is filtered, compared, or of use to somebody with
// the sqlite3 shell.
constexpr const char* kFirst = R"sql(
CREATE TABLE tasks (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  exit_code INTEGER,
  signal INTEGER,
  message TEXT NOT NULL,
  submitted_ms INTEGER,
  verdict_ms INTEGER,
  cleanup_pending INTEGER NOT NULL,
  unfinished INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_by_tenant ON tasks (tenant, n);
CREATE INDEX tasks_by_state ON tasks (state, n);
CREATE INDEX tasks_unfinished ON tasks (n) WHERE unfinished = 1;
CREATE INDEX tasks_by_verdict ON tasks (verdict_ms) WHERE unfinished = 0;

CREATE TABLE specs (
  task INTEGER PRIMARY KEY REFERENCES tasks (n) ON DELETE CASCADE,
  spec TEXT NOT NULL
) STRICT;

CREATE TABLE labels (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  task INTEGER NOT NULL REFERENCES tasks (n) ON DELETE CASCADE,
  PRIMARY KEY (name, value, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_task ON labels (task);

CREATE TABLE attempts (
  id TEXT PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks (n) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  sandbox TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (task, number)
) STRICT;

CREATE TABLE events (
  task INTEGER NOT NULL REFERENCES tasks (n) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
  task INTEGER NOT NULL REFERENCES tasks (n) ON DELETE CASCADE,
  path BLOB NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  mode INTEGER NOT NULL,
  PRIMARY KEY (task, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_samples (
  task INTEGER NOT NULL REFERENCES tasks (n) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  memory_peak_bytes INTEGER NOT NULL,
  pids INTEGER NOT NULL,
  pids_peak INTEGER NOT NULL,
  stalled_ms INTEGER NOT NULL,
  PRIMARY KEY (task, at_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  task TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_ms);

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

constexpr Migration kSteps[] = {
    {1, kFirst},
};

Result<> apply(Database& database, const Migration& step) {
  const std::string version = "PRAGMA user_version = " + std::to_string(step.version);
  if (auto begun = database.script("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = database.script(step.sql);
  if (done) done = database.script(version.c_str());
  if (done) done = database.script("COMMIT");
  if (!done && database.in_transaction()) (void)database.script("ROLLBACK");
  return done;
}

// A new file has neither tables nor an id; a file with tables must carry ours.
Result<> claim(Database& database) {
  const auto id = database.number("PRAGMA application_id");
  if (!id) return fail_with(id);
  if (*id == kApplicationId) return {};
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return fail_with(tables);
  if (*id != 0 || *tables != 0) {
    return fail(ErrorCode::corrupt,
                "the database in the data directory is another program's: it was left as it is");
  }
  const std::string claimed = "PRAGMA application_id = " + std::to_string(kApplicationId);
  return database.script(claimed.c_str());
}

}  // namespace

std::span<const Migration> task_store_migrations() {
  return kSteps;
}

Result<> migrate(Database& database, std::span<const Migration> steps) {
  if (auto claimed = claim(database); !claimed) return claimed;
  const auto version = database.number("PRAGMA user_version");
  if (!version) return fail_with(version);
  const int last = steps.empty() ? 0 : steps.back().version;
  if (*version > last) {
    return fail(ErrorCode::conflict, "the database has version " + std::to_string(*version) +
                                         ", this build knows up to " + std::to_string(last) +
                                         ": a newer Mayfly wrote it. Start that one; there is no way back");
  }
  for (const Migration& step : steps) {
    if (step.version <= *version) continue;
    if (auto applied = apply(database, step); !applied) return applied;
  }
  return {};
}

}  // namespace mayfly

#include "store/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/file.hpp"

namespace mayfly {
namespace {

constexpr int kBusyTimeoutMs = 5000;
constexpr std::size_t kMostIdleStatements = 64;
constexpr std::size_t kQuotedSql = 120;

// What every connection is set to. journal_size_limit gives the space of a burst back; the schema of a file
// that somebody tampered with gets no functions (trusted_schema).
constexpr const char* kPragmas =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
    "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864;";
constexpr const char* kReaderPragmas =
    "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;";

ErrorCode code_of(int extended, int system_errno) {
  switch (extended & 0xFF) {
    case SQLITE_FULL:
      return ErrorCode::disk_full;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return system_errno == ENOSPC || system_errno == EDQUOT ? ErrorCode::disk_full : ErrorCode::io;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::forbidden;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::unavailable;
    case SQLITE_CONSTRAINT:
      return ErrorCode::conflict;
    case SQLITE_TOOBIG:
      return ErrorCode::payload_too_large;
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    default:
      return ErrorCode::internal;
  }
}

// SQLite would make the file with 0644: it holds what users submit.
Result<> prepare_file(const std::filesystem::path& path, DatabaseAccess access) {
  const int flags = access == DatabaseAccess::read_write ? O_RDWR | O_CREAT : O_RDONLY;
  auto file = open_file(path, flags | O_NOFOLLOW, 0600);
  if (!file) return fail_with(file);
  struct stat status {};
  if (fstat(file->get(), &status) != 0) return fail_errno("stat " + path.string(), errno);
  if (status.st_uid != geteuid()) {
    return fail(ErrorCode::forbidden, path.string() + " belongs to uid " + std::to_string(status.st_uid) +
                                          ", we run as uid " + std::to_string(geteuid()) +
                                          ": start as that user, or choose another data directory");
  }
  return {};
}

int bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  const auto& variant = value.variant();
  if (const auto* number = std::get_if<std::int64_t>(&variant)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* text = std::get_if<std::string_view>(&variant)) {
    const char* data = text->data() == nullptr ? "" : text->data();  // a null pointer would bind NULL
    return sqlite3_bind_text64(statement, index, data, text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<SqlBlob>(&variant)) {
    const char* data = blob->bytes.data() == nullptr ? "" : blob->bytes.data();
    return sqlite3_bind_blob64(statement, index, data, blob->bytes.size(), SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, index);
}

}  // namespace

struct SqliteConnection {
  ~SqliteConnection() {
    for (auto& [sql, statement] : idle) sqlite3_finalize(statement);
    sqlite3_close_v2(handle);
  }
  tl::unexpected<Error> last_error(std::string_view tried) const;
  void put_back(std::string sql, sqlite3_stmt* statement);

  std::string path;
  sqlite3* handle = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> idle;
};

tl::unexpected<Error> SqliteConnection::last_error(std::string_view tried) const {
  if (handle == nullptr) throw std::bad_alloc();
  const int extended = sqlite3_extended_errcode(handle);
  return fail(code_of(extended, sqlite3_system_errno(handle)),
              "database " + path + ": " + sqlite3_errmsg(handle) + " (" + std::to_string(extended) +
                  ") at: " + std::string(tried.substr(0, kQuotedSql)));
}

void SqliteConnection::put_back(std::string sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  // Not kept when the same text was in use twice at once.
  const bool kept = idle.size() < kMostIdleStatements && idle.emplace(std::move(sql), statement).second;
  if (!kept) sqlite3_finalize(statement);
}

Query::Query(SqliteConnection& connection, std::string sql, sqlite3_stmt* statement)
    : connection_(&connection), sql_(std::move(sql)), statement_(statement) {}

Query::Query(Query&& other) noexcept
    : connection_(other.connection_),
      sql_(std::move(other.sql_)),
      statement_(std::exchange(other.statement_, nullptr)) {}

Query::~Query() {
  if (statement_ != nullptr) connection_->put_back(std::move(sql_), statement_);
}

Result<bool> Query::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->last_error(sql_);
}

std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Query::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string_view{} : std::string_view(static_cast<const char*>(data), size);
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Database::Database(std::unique_ptr<SqliteConnection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& path, DatabaseAccess access) {
  if (auto prepared = prepare_file(path, access); !prepared) return fail_with(prepared);
  auto connection = std::make_unique<SqliteConnection>();
  connection->path = path.string();
  // A WAL reader writes the shared-memory index, so the file is opened for writing; query_only keeps it a
  // reader.
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &connection->handle, flags, nullptr);
  Database database(std::move(connection));
  if (code != SQLITE_OK) return database.connection_->last_error("open");
  sqlite3_busy_timeout(database.connection_->handle, kBusyTimeoutMs);
  const char* pragmas = access == DatabaseAccess::read_write ? kPragmas : kReaderPragmas;
  if (auto set = database.script(pragmas); !set) return fail_with(set);
  return database;
}

Result<> Database::script(const char* sql) {
  if (sqlite3_exec(connection_->handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return connection_->last_error(sql);
  }
  return {};
}

Result<> Database::run(std::string_view sql, std::initializer_list<SqlValue> values) {
  auto statement = query(sql, values);
  if (!statement) return fail_with(statement);
  for (;;) {
    const auto row = statement->next();
    if (!row) return fail_with(row);
    if (!*row) return {};
  }
}

Result<Query> Database::query(std::string_view sql, std::initializer_list<SqlValue> values) {
  return query(sql, values.begin(), values.size());
}

Result<Query> Database::query(std::string_view sql, const SqlValue* values, std::size_t count) {
  std::string text(sql);
  sqlite3_stmt* statement = nullptr;
  if (auto cached = connection_->idle.extract(text); !cached.empty()) {
    statement = cached.mapped();
  } else if (sqlite3_prepare_v3(connection_->handle, text.c_str(), static_cast<int>(text.size() + 1),
                                SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return connection_->last_error(sql);
  }
  Query query(*connection_, std::move(text), statement);
  for (std::size_t i = 0; i < count; ++i) {
    if (bind(statement, static_cast<int>(i + 1), values[i]) != SQLITE_OK) return connection_->last_error(sql);
  }
  return query;
}

Result<std::int64_t> Database::number(std::string_view sql, std::initializer_list<SqlValue> values) {
  auto statement = query(sql, values);
  if (!statement) return fail_with(statement);
  const auto row = statement->next();
  if (!row) return fail_with(row);
  return *row ? statement->integer(0) : 0;
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(connection_->handle) == 0;
}
std::int64_t Database::changes() const {
  return sqlite3_changes64(connection_->handle);
}
std::int64_t Database::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(connection_->handle);
}

}  // namespace mayfly

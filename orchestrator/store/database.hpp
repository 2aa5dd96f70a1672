// SQLite with owners: a connection and the statements prepared on it. Knows nothing of tasks. A connection
// belongs to one thread at a time. Blocking.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "store/sql_value.hpp"

struct sqlite3_stmt;

namespace mayfly {

struct SqliteConnection;

// A statement in hand: bound, and stepped row by row. Goes back to its connection's cache at its end, so it
// must not outlive the connection.
class Query {
 public:
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  // To the next row; false behind the last one.
  Result<bool> next();
  // Columns of the row, from 0. Text is valid until the next call of next().
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  Query(SqliteConnection& connection, std::string sql, sqlite3_stmt* statement);

  SqliteConnection* connection_;
  std::string sql_;
  sqlite3_stmt* statement_;
};

enum class DatabaseAccess { read_write, read_only };

class Database {
 public:
  // Makes the file (0600) when it is absent and the access allows. WAL, synchronous=FULL, foreign keys on.
  // Errors: corrupt (not a database), forbidden (somebody else's file), disk_full, io.
  static Result<Database> open(const std::filesystem::path& path, DatabaseAccess access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Several statements without values or rows: schemas and pragmas.
  Result<> script(const char* sql);
  // One statement, to its end; rows are ignored.
  Result<> run(std::string_view sql, std::initializer_list<SqlValue> values = {});
  // Prepared once for each text, as long as there are not too many texts.
  Result<Query> query(std::string_view sql, std::initializer_list<SqlValue> values = {});
  Result<Query> query(std::string_view sql, const SqlValue* values, std::size_t count);
  // The first column of the first row of a query that yields exactly one number.
  Result<std::int64_t> number(std::string_view sql, std::initializer_list<SqlValue> values = {});

  // False also after an error (a full disk) on which SQLite undid the transaction by itself.
  bool in_transaction() const;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const;
  std::int64_t last_insert_rowid() const;

 private:
  explicit Database(std::unique_ptr<SqliteConnection> connection);

  std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace mayfly

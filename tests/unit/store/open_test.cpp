// Opening the store: versions, foreign and damaged files, and two servers on one directory.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "store/data_dir_lock.hpp"
#include "store/migrations.hpp"
#include "store_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

Database open_database(const std::filesystem::path& path) {
  auto database = Database::open(path, DatabaseAccess::read_write);
  if (!database) throw std::runtime_error(database.error().message);
  return std::move(*database);
}

constexpr Migration kOne{1, "CREATE TABLE a (x TEXT) STRICT"};
constexpr Migration kTwo{2, "ALTER TABLE a ADD COLUMN y TEXT; INSERT INTO a VALUES ('x', 'y')"};
constexpr Migration kBroken{3, "INSERT INTO a VALUES ('kept', 'no'); INSERT INTO nowhere VALUES (1)"};

TEST_CASE("migrations bring an older database forward step by step and run each step once") {
  const TempDir dir;
  Database database = open_database(dir.path() / "a.db");
  const Migration one[] = {kOne};
  const Migration both[] = {kOne, kTwo};
  REQUIRE(migrate(database, one).has_value());
  REQUIRE(migrate(database, both).has_value());
  REQUIRE(migrate(database, both).has_value());
  CHECK(*database.number("PRAGMA user_version") == 2);
  CHECK(*database.number("SELECT count(*) FROM a WHERE y = 'y'") == 1);
}

TEST_CASE("migrations leave no half of a step that fails") {
  const TempDir dir;
  Database database = open_database(dir.path() / "a.db");
  const Migration steps[] = {kOne, kTwo, kBroken};
  CHECK_FALSE(migrate(database, steps).has_value());
  CHECK(*database.number("PRAGMA user_version") == 2);
  CHECK(*database.number("SELECT count(*) FROM a WHERE x = 'kept'") == 0);
  CHECK_FALSE(database.in_transaction());
}

TEST_CASE("migrations of this build rise by one from one") {
  int version = 0;
  for (const Migration& step : task_store_migrations()) CHECK(step.version == ++version);
}

TEST_CASE("store refuses a database of a newer build with words and leaves it as it is") {
  StoreFixture fixture;
  fixture.store.reset();
  const auto path = fixture.dir.path() / "data" / "tasks.db";
  REQUIRE(open_database(path).script("PRAGMA user_version = 4711").has_value());
  const auto refused = open_sqlite_task_store(fixture.dir.path() / "data", fixture.clock, fixture.metrics);
  REQUIRE(code_of(refused) == ErrorCode::conflict);
  CHECK(refused.error().message.find("4711") != std::string::npos);
  CHECK(refused.error().message.find("newer") != std::string::npos);
  CHECK(*open_database(path).number("PRAGMA user_version") == 4711);
}

TEST_CASE("store refuses another program's database") {
  const TempDir dir;
  std::filesystem::create_directory(dir.path() / "data");
  REQUIRE(open_database(dir.path() / "data" / "tasks.db").script("CREATE TABLE theirs (x TEXT)").has_value());
  const ManualClock clock;
  Metrics metrics;
  CHECK(code_of(open_sqlite_task_store(dir.path() / "data", clock, metrics)) == ErrorCode::corrupt);
}

TEST_CASE("store says corrupt for a file that is no database or whose pages are damaged") {
  StoreFixture fixture;
  for (int i = 0; i < 200; ++i) fixture.insert();
  REQUIRE(fixture.await(fixture.store->close()).has_value());
  fixture.store.reset();
  const auto path = fixture.dir.path() / "data" / "tasks.db";
  SECTION("the head is overwritten") {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(100, 'x');
    CHECK(code_of(open_sqlite_task_store(fixture.dir.path() / "data", fixture.clock, fixture.metrics)) ==
          ErrorCode::corrupt);
  }
  SECTION("all behind the schema is overwritten") {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(path);
    file.seekp(16384);
    file << std::string(size - 16384, 'x');
    file.close();
    auto opened = open_sqlite_task_store(fixture.dir.path() / "data", fixture.clock, fixture.metrics);
    if (!opened) {
      CHECK(opened.error().code == ErrorCode::corrupt);
    } else {
      CHECK(code_of(fixture.await((*opened)->unfinished_tasks())) == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("store refuses a database file of another owner") {
  if (geteuid() != 0) return;  // only root can make one
  StoreFixture fixture;
  fixture.store.reset();
  const auto path = fixture.dir.path() / "data" / "tasks.db";
  REQUIRE(chown(path.c_str(), 12345, 12345) == 0);
  const auto refused = open_sqlite_task_store(fixture.dir.path() / "data", fixture.clock, fixture.metrics);
  REQUIRE(code_of(refused) == ErrorCode::forbidden);
  CHECK(refused.error().message.find("12345") != std::string::npos);
}

TEST_CASE_METHOD(StoreFixture, "store keeps its files from other users") {
  insert();
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / "data")) {
    struct stat status {};
    REQUIRE(stat(entry.path().c_str(), &status) == 0);
    INFO(entry.path());
    CHECK((status.st_mode & 0077U) == 0);
  }
}

TEST_CASE_METHOD(StoreFixture,
                 "store refuses a second server on the same data directory and names the first") {
  Metrics other;
  const auto refused = open_sqlite_task_store(dir.path() / "data", clock, other);
  REQUIRE(code_of(refused) == ErrorCode::conflict);
  CHECK(refused.error().message.find(std::to_string(getpid())) != std::string::npos);
  store.reset();
  CHECK(open_sqlite_task_store(dir.path() / "data", clock, other).has_value());
}

}  // namespace
}  // namespace mayfly

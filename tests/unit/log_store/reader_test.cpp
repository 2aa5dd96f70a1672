// Positions, streams, attempts, following and the end of a log.
#include <catch2/catch.hpp>

#include "log_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

TEST_CASE_METHOD(LogFixture, "log reader delivers the wanted stream from any position") {
  Script script;
  std::string out, err;
  {
    const auto to = writer();
    std::vector<LogRecord> records;
    for (int i = 0; i < 20; ++i) {
      records.push_back(script.out("out" + std::to_string(i) + "\n"));
      records.push_back(script.err("e" + std::to_string(i)));
      records.push_back(script.event("{}"));
      out += "out" + std::to_string(i) + "\n";
      err += "e" + std::to_string(i);
    }
    REQUIRE(append(*to, records).has_value());
  }
  for (std::uint64_t from = 0; from <= out.size() + 2; ++from) {
    CAPTURE(from);
    const auto only_out = read_all(*reader(LogStream::out, from, 0), 10, from);
    CHECK(only_out.out == (from < out.size() ? out.substr(from) : ""));
    CHECK(only_out.err.empty());
    const std::uint64_t err_from = std::min<std::uint64_t>(from, err.size());
    const auto both = read_all(*reader(LogStream::both, from, err_from), 1, from, err_from);
    CHECK(both.out == (from < out.size() ? out.substr(from) : ""));
    CHECK(both.err == err.substr(err_from));
    CHECK(both.markers.empty());
  }
  CHECK(read_all(*reader(LogStream::err)).out.empty());
}

TEST_CASE_METHOD(LogFixture, "log reader counts positions over all attempts") {
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    Script script;
    const auto to = writer(attempt == 3 ? 4 : attempt);  // attempt 3 never came to write
    REQUIRE(append(*to, {script.out("out" + std::to_string(attempt)), script.err("e")}).has_value());
    const auto size = await(logs->size(task));
    CHECK(size->out == 4 * attempt);
    CHECK(size->err == attempt);
  }
  CHECK(read_all(*reader(), 1).out == "out1out2out3");
  CHECK(read_all(*reader(LogStream::out, 6, 0), 100, 6).out == "t2out3");
  CHECK(read_all(*reader(LogStream::both, 8, 3), 100, 8, 3).out == "out3");
}

TEST_CASE_METHOD(LogFixture, "log reader delivers markers once the position is reached") {
  Script script;
  const auto to = writer();
  const auto marker = [](LogKind kind) { return make_record(0, kind, 0, "{}"); };
  REQUIRE(append(*to, {marker(LogKind::gap), script.out("abc"), marker(LogKind::truncated), script.err("d")})
              .has_value());
  CHECK(read_all(*reader()).markers.size() == 2);
  CHECK(read_all(*reader(LogStream::out, 1, 0), 100, 1).markers.size() == 1);
  CHECK(read_all(*reader(LogStream::both, 3, 1), 100, 3, 1).markers.empty());
}

TEST_CASE_METHOD(LogFixture, "log reader keeps to the size it was asked for but gives at least one record") {
  Script script;
  const auto to = writer();
  REQUIRE(append(*to, {script.out(std::string(kPiece, 'a')), script.out("b"), script.out("c")}).has_value());
  const auto from = reader();
  CHECK(await(from->next(100, Deadline::never()))->size() == 1);
  CHECK(await(from->next(100, Deadline::never()))->size() == 2);
}

TEST_CASE_METHOD(LogFixture, "log reader says not_found where there is no log and gone after removal") {
  CHECK(code_of(await(logs->open_reader(task, LogStream::both, 0, 0))) == ErrorCode::not_found);
  CHECK(code_of(await(logs->open_events(task, 1))) == ErrorCode::not_found);
  CHECK(code_of(await(logs->size(task))) == ErrorCode::not_found);
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("x")}).has_value());
  }
  const auto from = reader();
  CHECK(read_all(*from).out == "x");
  REQUIRE(await(logs->remove(task)).has_value());
  CHECK(code_of(await(from->next(100, Deadline::never()))) == ErrorCode::gone);
  CHECK(await(logs->remove(task)).has_value());
}

struct Follower {
  std::string out;
  bool complete = false;
  std::optional<Error> error;
};

asio::awaitable<void> follow(LogReader& from, Follower& follower) {
  for (;;) {
    auto records = co_await from.next(1000, Deadline::in(std::chrono::hours(1)));
    if (!records) {
      follower.error = records.error();
      co_return;
    }
    if (records->empty()) break;
    for (const LogRecord& record : *records) follower.out += record.data;
  }
  follower.complete = true;
}

TEST_CASE_METHOD(LogFixture,
                 "F01 log followers get every byte across appends and attempts and then the end") {
  std::string expected;
  std::array<Follower, 20> followers;
  std::vector<std::unique_ptr<LogReader>> readers;
  auto to = writer();
  for (auto& follower : followers) {
    readers.push_back(reader(LogStream::out));
    asio::co_spawn(loop.context(), follow(*readers.back(), follower), [](std::exception_ptr) {});
  }
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    if (attempt == 2) to = (to->close(), writer(2));
    Script script;
    for (int i = 0; i < 50; ++i) {
      const std::string line = std::to_string(attempt) + " line " + std::to_string(i) + "\n";
      expected += line;
      REQUIRE(append(*to, {script.out(line), script.err("other")}).has_value());
    }
  }
  REQUIRE(append(*to, {make_record(1000, LogKind::out, 99999, "no newline at the end")}).has_value());
  expected += "no newline at the end";
  to.reset();
  REQUIRE(await(logs->seal(task)).has_value());
  loop.context().restart();
  loop.context().run();
  for (const auto& follower : followers) {
    CHECK(follower.complete);
    CHECK(follower.out == expected);
  }
}

TEST_CASE_METHOD(LogFixture, "log follower waits without a result until its deadline and can ask again") {
  const auto to = writer();
  const auto from = reader();
  CHECK(code_of(await(from->next(100, Deadline::in(Millis(1))))) == ErrorCode::deadline_exceeded);
  REQUIRE(append(*to, {make_record(1, LogKind::out, 0, "late")}).has_value());
  CHECK(await(from->next(100, Deadline::never()))->front().data == "late");
}

TEST_CASE_METHOD(LogFixture, "log follower hears of a removal") {
  writer()->close();
  const auto from = reader();
  Follower follower;
  asio::co_spawn(loop.context(), follow(*from, follower), [](std::exception_ptr) {});
  loop.poll();
  REQUIRE(await(logs->remove(task)).has_value());
  loop.context().restart();
  loop.context().run();
  REQUIRE(follower.error.has_value());
  CHECK(follower.error->code == ErrorCode::gone);
}

TEST_CASE_METHOD(LogFixture, "log is complete after seal also after a restart and takes nothing more") {
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("abc"), script.err("de")}).has_value());
  }
  CHECK_FALSE(await(logs->size(task))->complete);
  REQUIRE(await(logs->seal(task)).has_value());
  REQUIRE(await(logs->seal(task)).has_value());
  open();
  const auto size = await(logs->size(task));
  CHECK(size->complete);
  CHECK(size->out == 3);
  CHECK(size->err == 2);
  CHECK(code_of(await(logs->open_writer(task, 1))) == ErrorCode::conflict);
  CHECK(code_of(await(logs->open_writer(task, 2))) == ErrorCode::conflict);
  const auto from = reader();
  CHECK(await(from->next(100, Deadline::never()))->size() == 2);
  CHECK(await(from->next(100, Deadline::never()))->empty());
  CHECK(await(from->next(100, Deadline::never()))->empty());
}

TEST_CASE_METHOD(LogFixture, "log of a task that never ran can be sealed and is empty and complete") {
  REQUIRE(await(logs->seal(task)).has_value());
  CHECK(await(reader()->next(100, Deadline::never()))->empty());
  CHECK(await(logs->size(task))->complete);
}

TEST_CASE_METHOD(LogFixture, "log marker that is not ours is corrupt") {
  REQUIRE(await(logs->seal(task)).has_value());
  for (const std::string& text :
       {std::string("{}"), std::string("x"), std::string("{\"out\":-1,\"err\":0}"), std::string()}) {
    write_bytes(segment().parent_path() / "sealed", text);
    CHECK(code_of(await(logs->size(task))) == ErrorCode::corrupt);
  }
}

TEST_CASE_METHOD(LogFixture, "log events show every record of an attempt without the bytes of its output") {
  Script script;
  const auto to = writer();
  const std::string ended = R"({"method":"ended"})";
  REQUIRE(
      append(*to, {script.out(std::string(kPiece, 'x')), script.event(ended), script.err("y")}).has_value());
  REQUIRE(append(*to, {make_record(0, LogKind::gap, 0, "{}")}).has_value());
  auto opened = await(logs->open_events(task, 1));
  REQUIRE(opened.has_value());
  REQUIRE(append(*to, {script.out("after it was opened")}).has_value());
  std::vector<LogRecord> seen;
  for (;;) {
    const auto records = await((*opened)->next(1, Deadline::never()));
    REQUIRE(records.has_value());
    if (records->empty()) break;
    seen.insert(seen.end(), records->begin(), records->end());
  }
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].kind == LogKind::out);
  CHECK(seen[0].data.empty());
  CHECK(seen[1].number == 2);
  CHECK(seen[1].data == ended);
  CHECK(seen[2].offset == 0);
  CHECK(seen[3].kind == LogKind::gap);
}

TEST_CASE_METHOD(LogFixture, "log store counts its bytes over appends seals removals and restarts") {
  const auto on_disk = [this] {
    std::uint64_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "logs")) {
      if (entry.is_regular_file()) sum += entry.file_size();
    }
    return sum;
  };
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out(std::string(1000, 'x'))}).has_value());
    CHECK(await(logs->total_size())->count == on_disk());
  }
  write_bytes(segment(), read_bytes(segment()) + "torn");
  open();
  CHECK(await(logs->total_size())->count == on_disk());
  writer()->close();
  CHECK(await(logs->total_size())->count == on_disk());
  REQUIRE(await(logs->seal(task)).has_value());
  CHECK(await(logs->total_size())->count == on_disk());
  CHECK(on_disk() > 1000);
  REQUIRE(await(logs->remove(task)).has_value());
  CHECK(await(logs->total_size())->count == 0);
}

}  // namespace
}  // namespace mayfly

// Appending, resuming, and what a killed process left behind.
#include <catch2/catch.hpp>

#include "log_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

TEST_CASE_METHOD(LogFixture,
                 "log keeps bytes as bytes with NUL and newlines and broken UTF-8 and no final newline") {
  Script script;
  const std::string odd("a\0\n\r\xff\xc3\x1b[31m", 11);
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out(odd), script.err("x"), script.out(""), script.out("hello\nworld")})
                .has_value());
  }
  const auto streams = read_all(*reader());
  CHECK(streams.out == odd + "hello\nworld");
  CHECK(streams.err == "x");
}

TEST_CASE_METHOD(LogFixture, "F46 P06 log of hostile output holds just bytes and makes no other file") {
  Script script;
  const auto to = writer();
  REQUIRE(append(*to, {script.out("../../etc/passwd\nMFR1MAYFLOG\n"), script.err("\x1b]0;title\x07")})
              .has_value());
  CHECK(read_all(*reader()).out == "../../etc/passwd\nMFR1MAYFLOG\n");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data))
    files += entry.is_regular_file();
  CHECK(files == 1);
}

TEST_CASE_METHOD(LogFixture,
                 "log writer resumes at the number that stands in the segment and drops what came before") {
  Script script;
  const auto first = script.out("one ");
  const auto second = script.event("{}");
  const auto third = script.out("two ");
  {
    const auto to = writer();
    CHECK(to->last_number() == 0);
    REQUIRE(append(*to, {first, second}).has_value());
    CHECK(to->last_number() == 2);
  }
  open();
  const auto to = writer();
  CHECK(to->last_number() == 2);
  REQUIRE(append(*to, {first, second, third, third}).has_value());
  CHECK(to->last_number() == 3);
  CHECK(read_all(*reader()).out == "one two ");
  CHECK(log.warnings == 0);
}

TEST_CASE_METHOD(LogFixture, "log writer always writes records with number zero") {
  const auto to = writer();
  const auto gap = make_record(0, LogKind::gap, 0, "{\"reason\":\"engine_restarted\"}");
  REQUIRE(append(*to, {make_record(5, LogKind::out, 0, "x"), gap}).has_value());
  REQUIRE(append(*to, {gap}).has_value());
  CHECK(to->last_number() == 5);
  CHECK(read_all(*reader()).markers.size() == 2);
}

TEST_CASE_METHOD(LogFixture, "log has one writer at a time") {
  auto to = writer();
  CHECK(code_of(await(logs->open_writer(task, 1))) == ErrorCode::conflict);
  CHECK(code_of(await(logs->open_writer(task, 2))) == ErrorCode::conflict);
  CHECK(code_of(await(logs->seal(task))) == ErrorCode::conflict);
  CHECK(code_of(await(logs->remove(task))) == ErrorCode::conflict);
  to->close();
  CHECK(code_of(append(*to, {make_record(1, LogKind::out, 0, "x")})) == ErrorCode::conflict);
  CHECK(await(logs->open_writer(task, 1)).has_value());
  CHECK(await(logs->open_writer(task, 2)).has_value());
}

TEST_CASE_METHOD(LogFixture, "log refuses a record that is too big and ids that are none") {
  const auto to = writer();
  CHECK(code_of(append(*to, {make_record(1, LogKind::out, 0, std::string((1U << 20U) + 1, 'x'))})) ==
        ErrorCode::invalid_argument);
  CHECK(append(*to, {make_record(1, LogKind::out, 0, std::string(1U << 20U, 'x'))}).has_value());
  CHECK(code_of(await(logs->open_writer(TaskId("../../x"), 1))) == ErrorCode::invalid_argument);
  CHECK(code_of(await(logs->remove(TaskId("..")))) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(LogFixture, "log cuts a tail torn at any byte and goes on with the same record") {
  Script script;
  const auto first = script.out("first\n");
  const auto second = script.out("second\n");
  {
    const auto to = writer();
    REQUIRE(append(*to, {first}).has_value());
  }
  const std::string whole_first = read_bytes(segment());
  {
    const auto to = writer();
    REQUIRE(append(*to, {second}).has_value());
  }
  const std::string both = read_bytes(segment());
  for (std::size_t size = 0; size < both.size(); ++size) {
    CAPTURE(size);
    write_bytes(segment(), both.substr(0, size));
    const bool has_first = size >= whole_first.size();
    CHECK(read_all(*reader()).out ==
          (has_first ? "first\n" : ""));  // a reader takes the torn tail for the end
    const auto to = writer();
    REQUIRE(to->last_number() == (has_first ? 1 : 0));
    REQUIRE(append(*to, {first, second}).has_value());
    CHECK(read_bytes(segment()) == both);
  }
}

TEST_CASE_METHOD(LogFixture, "log reports a damaged record after what stands before it") {
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("first\n"), script.out("second\n"), script.out("third\n")}).has_value());
  }
  const std::string good = read_bytes(segment());
  const std::size_t second_at = 16 + 40 + 6;
  for (std::size_t at = second_at; at < second_at + 40 + 7; ++at) {
    CAPTURE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write_bytes(segment(), bad);
    const auto from = reader();
    const auto records = await(from->next(1U << 20U, Deadline::never()));
    REQUIRE(records.has_value());
    REQUIRE(records->size() == 1);
    CHECK(records->front().data == "first\n");
    const bool looks_torn =
        at >= second_at + 8 && at < second_at + 11;  // the length: the record seems to go on
    if (!looks_torn) CHECK(code_of(await(from->next(1U << 20U, Deadline::never()))) == ErrorCode::corrupt);
  }
}

TEST_CASE_METHOD(LogFixture, "log writer puts a gap in the place of a damaged part and says so") {
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("first\n"), script.out("second\n"), script.out("third\n")}).has_value());
  }
  std::string bytes = read_bytes(segment());
  bytes[16 + 40 + 6 + 40] = '!';
  write_bytes(segment(), bytes);
  const auto to = writer();
  CHECK(log.warnings == 1);
  CHECK(to->last_number() == 1);
  REQUIRE(append(*to, {make_record(4, LogKind::out, 19, "fourth\n")}).has_value());
  const auto records = await(reader()->next(1U << 20U, Deadline::never()));
  REQUIRE(records->size() == 3);
  CHECK((*records)[1].kind == LogKind::gap);
  CHECK((*records)[1].data.find("log_damaged") != std::string::npos);
  CHECK((*records)[2].data == "fourth\n");
  CHECK((*records)[2].offset == 19);
}

TEST_CASE_METHOD(LogFixture, "log writer treats zeros behind the end as damage as a host crash leaves them") {
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("first\n")}).has_value());
  }
  const std::string good = read_bytes(segment());
  write_bytes(segment(), good + std::string(4096, '\0'));
  const auto to = writer();
  CHECK(to->last_number() == 1);
  const auto streams = read_all(*reader());
  CHECK(streams.out == "first\n");
  REQUIRE(streams.markers.size() == 1);
  CHECK(streams.markers.front().data.find("4096") != std::string::npos);
}

TEST_CASE_METHOD(LogFixture,
                 "log that was sealed and lost its end or a record is corrupt and never just short") {
  Script script;
  {
    const auto to = writer();
    REQUIRE(append(*to, {script.out("first\n"), script.out("second\n")}).has_value());
  }
  const std::string good = read_bytes(segment());
  write_bytes(segment(), good + good.substr(16, 45));  // a torn tail: seal cuts it
  REQUIRE(await(logs->seal(task)).has_value());
  CHECK(read_bytes(segment()) == good);
  for (std::size_t size = 16; size < good.size(); ++size) {
    CAPTURE(size);
    write_bytes(segment(), good.substr(0, size));
    const auto from = reader();
    auto records = await(from->next(1U << 20U, Deadline::never()));
    while (records && !records->empty()) records = await(from->next(1U << 20U, Deadline::never()));
    CHECK(code_of(records) == ErrorCode::corrupt);
  }
}

TEST_CASE_METHOD(LogFixture, "log refuses to append to a file that is no segment of this attempt") {
  writer()->close();
  std::string bytes = read_bytes(segment());
  bytes[12] = 9;  // the attempt
  write_bytes(segment(), bytes + "more");
  CHECK(code_of(await(logs->open_writer(task, 1))) == ErrorCode::corrupt);
  CHECK(read_bytes(segment()) == bytes + "more");
}

}  // namespace
}  // namespace mayfly

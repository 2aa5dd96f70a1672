#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"

namespace mayfly {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

// A pipe whose reading end never blocks.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) FAIL("pipe2");
    reader = FileDescriptor(ends[0]);
    writer = FileDescriptor(ends[1]);
    fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  }
  std::string read_all() const {
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
      const ssize_t count = read(reader.get(), piece.data(), piece.size());
      if (count <= 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
  }
  FileDescriptor reader;
  FileDescriptor writer;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

TEST_CASE("the log writes one JSON object a line with its fields in order") {
  const Pipe pipe;
  FdLogger log(pipe.writer.get(), LogFormat::json, LogLevel::debug);
  log.warn("engine", "no answer", {{"endpoint", "list"}, {"attempt", "3"}});
  const std::string text = pipe.read_all();
  REQUIRE_THAT(text, EndsWith("}\n"));
  CHECK_THAT(
      text,
      Contains(R"("level":"warn","component":"engine","msg":"no answer","endpoint":"list","attempt":"3")"));
  CHECK(text.starts_with("{\"time\":\""));
  const auto value = parse_json(text);
  REQUIRE(value);
  CHECK(parse_time(value->at("time").get<std::string>()));
}

TEST_CASE("the log leaves out what is below its level") {
  const Pipe pipe;
  FdLogger log(pipe.writer.get(), LogFormat::json, LogLevel::warn);
  log.debug("c", "one");
  log.info("c", "two");
  CHECK(pipe.read_all().empty());
  log.warn("c", "three");
  log.error("c", "four");
  CHECK(lines_of(pipe.read_all()).size() == 2);
}

TEST_CASE("text from outside cannot forge a line of the log in either format") {
  const Pipe pipe;
  const LogFormat format = GENERATE(LogFormat::json, LogFormat::text);
  FdLogger log(pipe.writer.get(), format, LogLevel::debug);
  log.info("c", "a\nb\r\x1B[2Jc\xFF", {{"k", "x\n2026-01-01T00:00:00.000Z error c: forged"}});
  const auto lines = lines_of(pipe.read_all());
  REQUIRE(lines.size() == 1);
  CHECK(is_utf8(lines[0]));
  CHECK(lines[0].find('\x1B') == std::string::npos);
  if (format == LogFormat::text) CHECK(is_plain_text(lines[0]));
  if (format == LogFormat::json) CHECK(parse_json(lines[0]));
}

TEST_CASE("the text format is for people and keeps fields apart") {
  const Pipe pipe;
  FdLogger log(pipe.writer.get(), LogFormat::text, LogLevel::debug);
  log.info("store", "opened",
           {{"path", "/var/x"}, {"note", "two words"}, {"empty", ""}, {"quote", "a\"b=c"}});
  const std::string text = pipe.read_all();
  CHECK_THAT(text, Contains(R"( info  store: opened path=/var/x note="two words" empty="" quote="a\"b=c")"));
}

TEST_CASE("a line of the log is never longer than a pipe takes at once") {
  const Pipe pipe;
  const LogFormat format = GENERATE(LogFormat::json, LogFormat::text);
  FdLogger log(pipe.writer.get(), format, LogLevel::debug);
  const std::string bad(100'000, '\x01');
  log.info("c", std::string(100'000, 'x'), {{"a", bad}, {"b", bad}, {"c", std::string(9999, '\xC3')}});
  const auto lines = lines_of(pipe.read_all());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() < 4096);
  CHECK_THAT(lines[0], Contains("…"));
  if (format == LogFormat::json) CHECK(parse_json(lines[0]));
}

TEST_CASE("lines of several threads never mix") {
  Pipe pipe;
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kLines = 200;
  std::string text;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&pipe, t] {
        FdLogger log(pipe.writer.get(), LogFormat::json, LogLevel::debug);
        for (std::size_t i = 0; i < kLines; ++i) log.info("c", std::string(1500, "abcd"[t]));
      });
    }
    const std::jthread closer([&] {
      for (auto& thread : threads) thread.join();
      pipe.writer.reset();
    });
    fcntl(pipe.reader.get(), F_SETFL, 0);
    text = pipe.read_all();
  }
  const auto lines = lines_of(text);
  CHECK(lines.size() == kThreads * kLines);
  for (const auto& line : lines) REQUIRE(parse_json(line));
}

TEST_CASE("a broken or full pipe loses lines and nothing else") {
  Pipe pipe;
  FdLogger log(pipe.writer.get(), LogFormat::json, LogLevel::debug);
  fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 2000; ++i) log.info("c", std::string(1000, 'x'));  // far more than a pipe holds
  for (const auto& line : lines_of(pipe.read_all())) CHECK(parse_json(line));
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  pipe.reader.reset();
  errno = ENOENT;
  log.info("c", "to nobody");
  CHECK(errno == ENOENT);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace mayfly

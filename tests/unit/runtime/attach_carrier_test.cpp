#include "runtime/docker/attach_carrier.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>

#include "profile_samples.hpp"
#include "support/io_loop.hpp"

using namespace mayfly;
using docker::AttachStream;

namespace {

// Hands out what it was told, then the end of file.
class ScriptedStream final : public AttachStream {
 public:
  std::deque<std::pair<Stream, std::string>> pieces;
  bool* closed = nullptr;

  Async<Piece> read(std::span<std::byte> into) override {
    if (pieces.empty()) co_return Piece{};
    auto& [stream, text] = pieces.front();
    const Piece piece{stream, std::min(into.size(), text.size())};
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), piece.size, into.begin());
    text.erase(0, piece.size);
    if (text.empty()) pieces.pop_front();
    co_return piece;
  }
  Async<> write(std::span<const std::byte>) override { co_return Result<>{}; }
  void close() override { *closed = true; }
};

class LinesLogger final : public Logger {
 public:
  std::vector<std::string> lines;
  void write(LogLevel level, std::string_view, std::string_view,
             std::initializer_list<Field> fields) override {
    CHECK(level == LogLevel::warn);
    for (const auto& [name, text] : fields) {
      if (name == "text") lines.push_back(text);
    }
  }
};

struct Carried {
  std::string channel;
  std::vector<std::string> log;
  bool closed = false;
};

Carried carry(std::deque<std::pair<AttachStream::Stream, std::string>> pieces) {
  Carried carried;
  LinesLogger log;
  auto stream = std::make_unique<ScriptedStream>();
  stream->pieces = std::move(pieces);
  stream->closed = &carried.closed;
  docker::AttachCarrier carrier(std::move(stream), log, test::kSampleId);
  test::IoLoop loop;
  std::array<std::byte, 7> buffer;
  for (;;) {
    const auto size = loop.await(carrier.read_some(buffer));
    REQUIRE(size);
    if (*size == 0) break;
    carried.channel.append(reinterpret_cast<const char*>(buffer.data()), *size);
  }
  carrier.close();
  carried.log = log.lines;
  return carried;
}

constexpr auto kOut = AttachStream::Stream::out;
constexpr auto kErr = AttachStream::Stream::err;

}  // namespace

TEST_CASE("stdout alone is the channel and stderr goes to the log by lines") {
  const Carried carried =
      carry({{kOut, "abc"}, {kErr, "first\nsec"}, {kOut, "defghijklmn\n"}, {kErr, "ond\n"}});
  CHECK(carried.channel == "abcdefghijklmn\n");
  CHECK(carried.log == std::vector<std::string>{"first", "second"});
  CHECK(carried.closed);
}

TEST_CASE("a runner that floods stderr fills our log only to a bound") {
  const Carried carried = carry({{kErr, std::string(1 << 20, 'x')}, {kOut, "alive"}});
  CHECK(carried.channel == "alive");
  std::size_t logged = 0;
  for (const std::string& line : carried.log) {
    CHECK(line.size() <= 1025);
    logged += line.size();
  }
  CHECK(logged == 64 * 1024);
}

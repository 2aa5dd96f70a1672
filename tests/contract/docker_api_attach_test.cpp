// Attach against a real engine: the stream that every channel runs on.
#include <catch2/catch.hpp>

#include "async/with_deadline.hpp"
#include "support/engine_fixture.hpp"

namespace mayfly::docker {
namespace {

using test::EngineFixture;

struct Output {
  std::string out, err;
  Result<void> end;
};

asio::awaitable<Output> read_all(AttachStream& stream) {
  Output output;
  std::vector<std::byte> buffer(std::size_t{64} << 10U);
  for (;;) {
    const auto piece = co_await stream.read(buffer);
    if (!piece) output.end = fail_with(piece);
    if (!piece || piece->size == 0) co_return output;
    auto& side = piece->stream == AttachStream::Stream::out ? output.out : output.err;
    side.append(reinterpret_cast<const char*>(buffer.data()), piece->size);
  }
}

// Reads stdout until `size` bytes of it have come.
Async<std::string> read_out(AttachStream& stream, std::size_t size) {
  std::string out;
  std::vector<std::byte> buffer(size);
  while (out.size() < size) {
    const auto piece = co_await stream.read(std::span(buffer).first(size - out.size()));
    if (!piece) co_return fail_with(piece);
    if (piece->size == 0) co_return fail(ErrorCode::protocol, "the stream ended early with: " + out);
    out.append(reinterpret_cast<const char*>(buffer.data()), piece->size);
  }
  co_return out;
}

Async<> write_text(AttachStream& stream, std::string text) {
  co_return co_await stream.write(std::as_bytes(std::span(text)));
}

struct Attached : EngineFixture {
  explicit Attached(const std::string& script) {
    container = name("attach");
    must(engine->create_container(container, shell_container(script), soon()));
    stream = must(engine->attach(container, soon()));
    must(engine->start_container(container, soon()));
  }
  std::string container;
  std::unique_ptr<AttachStream> stream;
};

TEST_CASE("a line goes through the attached stdin and back") {
  Attached fixture("read line; echo \"got $line\"; read line; exit 7");
  fixture.must(write_text(*fixture.stream, "ping\n"));
  CHECK(fixture.must(read_out(*fixture.stream, 9)) == "got ping\n");
  fixture.must(write_text(*fixture.stream, "\n"));
  CHECK(fixture.must(fixture.engine->wait_container(fixture.container, EngineFixture::soon())) == 7);
  const Output output = fixture.loop.await(read_all(*fixture.stream));
  CHECK(output.end);
}

TEST_CASE("F05 a hundred thousand short lines on both streams arrive whole") {
  Attached fixture(
      "i=0; while [ $i -lt 100000 ]; do echo $i; [ $((i % 10)) = 0 ] && echo e$i >&2; i=$((i+1)); done");
  const Output output = fixture.loop.await(read_all(*fixture.stream));
  CHECK(output.end);
  std::string out;
  std::string err;
  for (int i = 0; i < 100'000; ++i) {
    out += std::to_string(i) + "\n";
    if (i % 10 == 0) err += "e" + std::to_string(i) + "\n";
  }
  CHECK((output.out == out));
  CHECK((output.err == err));
}

TEST_CASE("F05 bytes of every value pass through both ways unchanged") {
  std::string bytes;
  for (int i = 0; i < 256 * 64; ++i) bytes += static_cast<char>(i % 256);
  Attached fixture("head -c " + std::to_string(bytes.size()));
  fixture.must(write_text(*fixture.stream, bytes));
  CHECK((fixture.must(read_out(*fixture.stream, bytes.size())) == bytes));
}

TEST_CASE("a second attach works after the first was closed") {
  Attached fixture("while read line; do echo \"got $line\"; done");
  fixture.must(write_text(*fixture.stream, "one\n"));
  CHECK(fixture.must(read_out(*fixture.stream, 8)) == "got one\n");
  fixture.stream->close();
  fixture.stream = fixture.must(fixture.engine->attach(fixture.container, EngineFixture::soon()));
  fixture.must(write_text(*fixture.stream, "two\n"));
  CHECK(fixture.must(read_out(*fixture.stream, 8)) == "got two\n");
}

TEST_CASE("a read that was cancelled loses nothing of a real stream") {
  Attached fixture("read line; echo late");
  const auto cancelled = fixture.loop.await(
      with_deadline(read_out(*fixture.stream, 5), Deadline::in(Millis(20)), "a quiet stream"));
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::deadline_exceeded);
  fixture.must(write_text(*fixture.stream, "\n"));
  CHECK(fixture.must(read_out(*fixture.stream, 5)) == "late\n");
}

TEST_CASE("F07 an attach to a container that has ended is ended by closing it") {
  Attached fixture("true");
  CHECK(fixture.must(fixture.engine->wait_container(fixture.container, EngineFixture::soon())) == 0);
  CHECK(fixture.loop.await(read_all(*fixture.stream)).end);
  auto late = fixture.loop.await(fixture.engine->attach(fixture.container, EngineFixture::soon()));
  if (!late) return;  // an engine may refuse it as well
  bool ended = false;
  asio::co_spawn(fixture.loop.context(), read_all(**late),
                 [&ended](std::exception_ptr, Output) { ended = true; });
  fixture.loop.poll();
  (*late)->close();
  while (!ended && fixture.loop.context().run_one() > 0) continue;
  CHECK(ended);
}

TEST_CASE("attaching to a container that is not there is not found") {
  EngineFixture fixture;
  const auto attached =
      fixture.loop.await(fixture.engine->attach(fixture.name("none"), EngineFixture::soon()));
  REQUIRE_FALSE(attached);
  CHECK(attached.error().code == ErrorCode::not_found);
}

}  // namespace
}  // namespace mayfly::docker

#include "docker_api/attach_stream.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "async/with_deadline.hpp"
#include "scripted_client.hpp"

namespace mayfly::docker {
namespace {

using test::EngineScript;
using test::send_bytes;
using test::stdcopy_frame;
using test::upgrade_answer;
using test::wait_gate;

struct Attached : ScriptedClient {
  using ScriptedClient::ScriptedClient;
  // Attaches to an engine that plays `script` after its 101.
  AttachStream& attach(EngineScript script) {
    script.insert(script.begin(), send_bytes(upgrade_answer()));
    return attach_raw(std::move(script));
  }
  AttachStream& attach_raw(EngineScript script) {
    engine.on("POST /containers/c/attach", {std::move(script)});
    auto attached = loop.await(client->attach("c", soon()));
    REQUIRE(attached);
    stream = std::move(*attached);
    return *stream;
  }
  std::unique_ptr<AttachStream> stream;
};

struct Output {
  std::string out, err;
  Result<void> end;
};

// Reads to the end of file or to the first error.
asio::awaitable<Output> read_all(AttachStream& stream, std::size_t piece_size) {
  Output output;
  std::vector<std::byte> buffer(piece_size);
  for (;;) {
    const auto piece = co_await stream.read(buffer);
    if (!piece) output.end = fail_with(piece);
    if (!piece || piece->size == 0) co_return output;
    auto& side = piece->stream == AttachStream::Stream::out ? output.out : output.err;
    side.append(reinterpret_cast<const char*>(buffer.data()), piece->size);
  }
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_CASE("K06 attach returns only after the 101") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/attach",
                    {{wait_gate("101"), send_bytes(upgrade_answer()), wait_gate("never")}});
  REQUIRE(fixture.loop.await(fixture.client->negotiate(soon())));
  bool attached = false;
  std::unique_ptr<AttachStream> stream;
  asio::co_spawn(fixture.loop.context(), fixture.client->attach("c", soon()),
                 [&](std::exception_ptr, Result<std::unique_ptr<AttachStream>> result) {
                   attached = result.has_value();
                   if (result) stream = std::move(*result);
                 });
  fixture.loop.poll();
  REQUIRE(fixture.engine.wait_until_at_gate("101"));
  fixture.loop.poll();
  CHECK_FALSE(attached);
  fixture.engine.open_gate("101");
  while (!attached && fixture.loop.context().run_one() > 0) continue;
  CHECK(attached);
  const auto request = fixture.engine.requests().back();
  CHECK(request.target == "/v1.41/containers/c/attach?stream=1&stdin=1&stdout=1&stderr=1");
  CHECK_THAT(request.head, Catch::Contains("Upgrade: tcp\r\n") && Catch::Contains("Connection: Upgrade\r\n"));
}

TEST_CASE("K06 a 101 that never comes ends attach at its deadline") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/attach", {{wait_gate("never")}});
  REQUIRE(fixture.loop.await(fixture.client->negotiate(soon())));
  const auto attached = fixture.loop.await(fixture.client->attach("c", at_once()));
  REQUIRE_FALSE(attached);
  CHECK(attached.error().code == ErrorCode::deadline_exceeded);
}

TEST_CASE("K06 an attach that is refused or answered without an upgrade is an error") {
  ScriptedClient fixture;
  const auto failure_for = [&](EngineScript script) {
    fixture.engine.on("POST /containers/c/attach", {std::move(script)});
    const auto attached = fixture.loop.await(fixture.client->attach("c", soon()));
    REQUIRE_FALSE(attached);
    return attached.error().code;
  };
  CHECK(failure_for(test::answer_json(404, "{}")) == ErrorCode::not_found);
  CHECK(failure_for(test::answer_json(409, "{}")) == ErrorCode::conflict);
  CHECK(failure_for(test::answer_json(200, "{}")) == ErrorCode::engine_refused);
  CHECK(failure_for({test::close_connection()}) == ErrorCode::engine_unreachable);
  CHECK(failure_for({send_bytes("HTTP/1.1 101 UPG"), test::close_connection()}) ==
        ErrorCode::engine_unreachable);
}

TEST_CASE("F05 a stream cut at every byte arrives the same") {
  const std::string stream =
      stdcopy_frame(1, "one") + stdcopy_frame(2, "two") + stdcopy_frame(1, "") + stdcopy_frame(1, "three");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Attached fixture;
    AttachStream& attached = fixture.attach({send_bytes(stream.substr(0, cut)), wait_gate("cut"),
                                             send_bytes(stream.substr(cut)), test::close_connection()});
    fixture.engine.open_gate("cut");
    const Output output = fixture.loop.await(read_all(attached, 1024));
    CHECK(output.end);
    CHECK(output.out == "onethree");
    CHECK(output.err == "two");
  }
}

TEST_CASE("F05 frames that come with the 101 in one piece are not lost") {
  Attached fixture;
  AttachStream& attached =
      fixture.attach_raw({send_bytes(upgrade_answer() + stdcopy_frame(1, "head") + stdcopy_frame(2, "e")),
                          test::close_connection()});
  const Output output = fixture.loop.await(read_all(attached, 3));
  CHECK(output.end);
  CHECK(output.out == "head");
  CHECK(output.err == "e");
}

TEST_CASE("F05 frames of many sizes in megabytes arrive whole through small and large pieces") {
  std::string stream;
  std::string out;
  for (std::size_t size : {1U, 7U, 8U, 9U, 4095U, 32768U, 262143U, 262144U, 262145U, 1048576U}) {
    const std::string payload(size, static_cast<char>('a' + size % 26));
    stream += stdcopy_frame(1, payload);
    out += payload;
  }
  for (const std::size_t piece_size : {std::size_t{1000}, std::size_t{1} << 20U}) {
    Attached fixture;
    AttachStream& attached = fixture.attach({send_bytes(stream), test::close_connection()});
    const Output output = fixture.loop.await(read_all(attached, piece_size));
    CHECK(output.end);
    CHECK(output.out == out);
  }
}

TEST_CASE("K06 an end inside a frame is an error and what came before it is kept") {
  const std::string frame = stdcopy_frame(1, "kept") + stdcopy_frame(1, "cut off");
  for (const std::size_t end : {std::size_t{13}, std::size_t{19}, std::size_t{22}}) {
    for (const auto& ending : {test::close_connection(), test::half_close()}) {
      Attached fixture;
      const Output output = fixture.loop.await(
          read_all(fixture.attach({send_bytes(frame.substr(0, end)), ending, wait_gate("never")}), 1024));
      REQUIRE_FALSE(output.end);
      CHECK(output.end.error().code == ErrorCode::protocol);
      CHECK_THAT(output.out, Catch::StartsWith("kept"));
    }
  }
}

TEST_CASE("K06 a half close of the engine between frames is the end of file") {
  Attached fixture;
  AttachStream& attached =
      fixture.attach({send_bytes(stdcopy_frame(1, "all")), test::half_close(), wait_gate("never")});
  const Output output = fixture.loop.await(read_all(attached, 1024));
  CHECK(output.end);
  CHECK(output.out == "all");
}

TEST_CASE("K06 a reset connection is engine_unreachable") {
  Attached fixture(test::ScriptedEngine::Transport::tcp);
  AttachStream& attached = fixture.attach({wait_gate("reset"), test::reset_connection()});
  fixture.engine.open_gate("reset");
  const Output output = fixture.loop.await(read_all(attached, 1024));
  REQUIRE_FALSE(output.end);
  CHECK(output.end.error().code == ErrorCode::engine_unreachable);
}

TEST_CASE("K07 a bad frame ends the stream for good") {
  Attached fixture;
  AttachStream& attached =
      fixture.attach({send_bytes(stdcopy_frame(3, "x") + stdcopy_frame(1, "y")), wait_gate("never")});
  for (int i = 0; i < 2; ++i) {
    const Output output = fixture.loop.await(read_all(attached, 1024));
    REQUIRE_FALSE(output.end);
    CHECK(output.end.error().code == ErrorCode::protocol);
    CHECK(output.out.empty());
  }
}

TEST_CASE("K07 frames are frames whatever content type the engine gives the stream") {
  for (const char* type :
       {"application/vnd.docker.multiplexed-stream", "application/vnd.docker.raw-stream"}) {
    Attached fixture;
    const std::string head = "HTTP/1.1 101 UPGRADED\r\nContent-Type: " + std::string(type) +
                             "\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
    AttachStream& attached =
        fixture.attach_raw({send_bytes(head), send_bytes(stdcopy_frame(2, "e")), test::close_connection()});
    const Output output = fixture.loop.await(read_all(attached, 16));
    CHECK(output.end);
    CHECK(output.err == "e");
  }
}

TEST_CASE("a read that was cancelled loses nothing") {
  Attached fixture;
  const std::string frame = stdcopy_frame(1, "late");
  AttachStream& attached = fixture.attach({send_bytes(frame.substr(0, 3)), wait_gate("rest"),
                                           send_bytes(frame.substr(3)), test::close_connection()});
  std::array<std::byte, 16> buffer{};
  for (int i = 0; i < 3; ++i) {
    const auto read = fixture.loop.await(with_deadline(attached.read(buffer), at_once(), "read"));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::deadline_exceeded);
  }
  fixture.engine.open_gate("rest");
  const Output output = fixture.loop.await(read_all(attached, 16));
  CHECK(output.end);
  CHECK(output.out == "late");
}

TEST_CASE("F07 closing ends a read that waits for an end that never comes") {
  Attached fixture;
  AttachStream& attached = fixture.attach({wait_gate("never")});
  bool ended = false;
  Output output;
  asio::co_spawn(fixture.loop.context(), read_all(attached, 16), [&](std::exception_ptr, Output result) {
    output = std::move(result);
    ended = true;
  });
  fixture.loop.poll();
  CHECK_FALSE(ended);
  SECTION("by close, which may come twice") {
    attached.close();
    attached.close();
  }
  SECTION("by destroying the stream") {
    fixture.stream.reset();
  }
  while (!ended && fixture.loop.context().run_one() > 0) continue;
  REQUIRE_FALSE(output.end);
  CHECK(output.end.error().code == ErrorCode::cancelled);
}

TEST_CASE("a closed stream neither reads nor writes") {
  Attached fixture;
  AttachStream& attached = fixture.attach({send_bytes(stdcopy_frame(1, "unread")), wait_gate("never")});
  attached.close();
  CHECK(fixture.loop.await(read_all(attached, 16)).end.error().code == ErrorCode::cancelled);
  CHECK(fixture.loop.await(attached.write(bytes_of("x"))).error().code == ErrorCode::cancelled);
}

TEST_CASE("a write goes through while a read waits") {
  Attached fixture;
  const std::string message(300'000, 'm');
  AttachStream& attached = fixture.attach({wait_gate("read"), test::read_input(message.size()),
                                           send_bytes(stdcopy_frame(1, "got it")), test::close_connection()});
  bool ended = false;
  Output output;
  asio::co_spawn(fixture.loop.context(), read_all(attached, 16), [&](std::exception_ptr, Output result) {
    output = std::move(result);
    ended = true;
  });
  fixture.loop.poll();
  fixture.engine.open_gate("read");
  REQUIRE(fixture.loop.await(attached.write(bytes_of(message))));
  while (!ended && fixture.loop.context().run_one() > 0) continue;
  CHECK(output.end);
  CHECK(output.out == "got it");
  CHECK(fixture.engine.input() == message);
}

TEST_CASE("K06 a write to an engine that has gone is engine_unreachable") {
  Attached fixture;
  AttachStream& attached = fixture.attach({test::close_connection()});
  REQUIRE(fixture.loop.await(read_all(attached, 16)).end);
  const std::string message(1U << 20U, 'm');
  const auto written = fixture.loop.await(attached.write(bytes_of(message)));
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::engine_unreachable);
}

}  // namespace
}  // namespace mayfly::docker

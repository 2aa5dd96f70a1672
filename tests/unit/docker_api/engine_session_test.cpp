// Connections: kept, lost, refused, silent, and the version that is agreed on over them.
#include "docker_api/engine_session.hpp"

#include <catch2/catch.hpp>

#include "async/with_deadline.hpp"
#include "scripted_client.hpp"

namespace mayfly::docker {
namespace {

using test::answer_json;
using test::close_connection;
using test::EngineScript;
using test::send_bytes;
using test::wait_gate;

const std::string kInfo = R"({"Name":"scripted"})";

EngineScript version(const std::string& least, const std::string& most) {
  return answer_json(200, "{\"ApiVersion\":\"" + most + "\",\"MinAPIVersion\":\"" + least + "\"}");
}

ErrorCode info_failure(ScriptedClient& fixture, Deadline deadline) {
  const auto info = fixture.loop.await(fixture.client->info(deadline));
  REQUIRE_FALSE(info);
  return info.error().code;
}

std::string last_target(const ScriptedClient& fixture) {
  return fixture.engine.requests().back().target;
}

TEST_CASE("F41 every call uses the version that was agreed on") {
  ScriptedClient fixture;
  fixture.engine.on("GET /version", {version("1.44", "1.60")});
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  CHECK(fixture.client->agreed_version().empty());
  REQUIRE(fixture.loop.await(fixture.client->negotiate(soon())));
  CHECK(fixture.client->agreed_version() == "1.52");
  CHECK(fixture.engine.requests().back().target == "/version");
  CHECK(fixture.loop.await(fixture.client->info(soon())).value().name == "scripted");
  CHECK(last_target(fixture) == "/v1.52/info");
  CHECK(fixture.observed == std::vector<std::string>{"version ok", "info ok"});
}

TEST_CASE("F41 an engine out of our range is refused before any other call") {
  ScriptedClient fixture;
  for (const EngineScript& answer :
       {version("1.12", "1.24"), version("1.70", "1.80"), answer_json(200, "{}")}) {
    fixture.engine.on("GET /version", {answer});
    const auto refused = fixture.loop.await(fixture.client->negotiate(soon()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::engine_refused);
    CHECK_THAT(refused.error().message, Catch::Contains("1.41") && Catch::Contains("1.52"));
    CHECK(info_failure(fixture, soon()) == ErrorCode::engine_refused);
  }
  CHECK(fixture.engine.count("GET /info") == 0);
}

TEST_CASE("F41 the version is agreed on anew after the engine was restarted") {
  ScriptedClient fixture;
  fixture.engine.on("GET /version", {version("1.12", "1.41"), version("1.44", "1.52")});
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(last_target(fixture) == "/v1.41/info");
  fixture.engine.drop_connections();
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(last_target(fixture) == "/v1.52/info");
  CHECK(fixture.client->agreed_version() == "1.52");
}

TEST_CASE("a connection is kept for the next call") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  for (int i = 0; i < 5; ++i) REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(fixture.engine.connections() == 1);
  CHECK(fixture.engine.count("GET /version") == 1);
}

TEST_CASE("a connection is not kept when the engine asks so") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info",
                    {{send_bytes("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")}});
  for (int i = 0; i < 3; ++i) REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(fixture.engine.connections() == 3);
}

TEST_CASE("a GET is sent once more when the engine closes a kept connection before a byte of the answer") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {answer_json(200, kInfo), {close_connection()}, answer_json(200, kInfo)});
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(fixture.engine.count("GET /info") == 3);
}

TEST_CASE("a GET is sent once more and no more") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {answer_json(200, kInfo), {close_connection()}});
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  CHECK(info_failure(fixture, soon()) == ErrorCode::engine_unreachable);
  CHECK(fixture.engine.count("GET /info") == 3);
}

TEST_CASE("a POST is never sent twice") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  fixture.engine.on("POST /containers/c/start", {{close_connection()}});
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  const auto started = fixture.loop.await(fixture.client->start_container("c", soon()));
  REQUIRE_FALSE(started);
  CHECK(started.error().code == ErrorCode::engine_unreachable);
  CHECK(fixture.engine.count("POST /containers/c/start") == 1);
}

TEST_CASE("a kept connection that the engine has closed is not used for a POST") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  fixture.engine.on("POST /containers/c/start", {answer_json(204, "")});
  REQUIRE(fixture.loop.await(fixture.client->info(soon())));
  fixture.engine.drop_connections();
  CHECK(fixture.loop.await(fixture.client->start_container("c", soon())));
}

TEST_CASE("D03 no engine at the address is engine_unreachable and says where") {
  test::IoLoop loop;
  const test::TempDir nowhere;
  const std::string address = "unix://" + (nowhere.path() / "none.sock").string();
  const auto client = make_engine_client(loop.executor(), parse_engine_address(address).value(), nullptr);
  const auto pinged = loop.await(client->ping(soon()));
  REQUIRE_FALSE(pinged);
  CHECK(pinged.error().code == ErrorCode::engine_unreachable);
  CHECK_THAT(pinged.error().message, Catch::Contains(address));
}

TEST_CASE("D03 garbage and truncated JSON are protocol errors") {
  ScriptedClient fixture;
  for (const EngineScript& answer :
       std::vector<EngineScript>{{send_bytes("what?\r\n\r\n"), close_connection()},
                                 answer_json(200, "{\"Name\":\"scr"),
                                 answer_json(200, "<html></html>"),
                                 answer_json(200, "[]"),
                                 answer_json(200, "")}) {
    fixture.engine.on("GET /info", {answer});
    CHECK(info_failure(fixture, soon()) == ErrorCode::protocol);
  }
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  CHECK(fixture.loop.await(fixture.client->info(soon())));
}

TEST_CASE("D03 an answer that is cut is engine_unreachable") {
  ScriptedClient fixture;
  const std::string answer = test::json_answer(200, kInfo);
  for (const std::size_t end : {std::size_t{0}, std::size_t{9}, answer.size() - 5, answer.size() - 1}) {
    fixture.engine.on("GET /info", {{send_bytes(answer.substr(0, end)), close_connection()}});
    CHECK(info_failure(fixture, soon()) == ErrorCode::engine_unreachable);
  }
}

TEST_CASE("D03 an answer of 100 MB is refused at its bound with or without a length") {
  ScriptedClient fixture;
  const std::string piece(1U << 20U, 'x');
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n";
  fixture.engine.on("GET /info", {{send_bytes(head), send_bytes(piece, 100)}});
  CHECK(info_failure(fixture, soon()) == ErrorCode::protocol);
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  fixture.engine.on("GET /info", {{send_bytes(chunked), send_bytes("100000\r\n" + piece + "\r\n", 100)}});
  CHECK(info_failure(fixture, soon()) == ErrorCode::protocol);
}

TEST_CASE("D03 an engine that hangs ends the call at its deadline and the connection with it") {
  ScriptedClient fixture;
  const EngineScript half{send_bytes("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"), wait_gate("never")};
  fixture.engine.on("GET /info", {{wait_gate("never")}, half, answer_json(200, kInfo)});
  REQUIRE(fixture.loop.await(fixture.client->negotiate(soon())));
  CHECK(info_failure(fixture, at_once()) == ErrorCode::deadline_exceeded);
  CHECK(info_failure(fixture, at_once()) == ErrorCode::deadline_exceeded);
  CHECK(fixture.observed.back() == "info deadline_exceeded");
  CHECK(fixture.loop.await(fixture.client->info(soon())).value().name == "scripted");
  CHECK(fixture.engine.connections() == 3);
}

TEST_CASE("an answer that comes late but in time is taken") {
  ScriptedClient fixture;
  fixture.engine.on("GET /info", {{wait_gate("later"), send_bytes(test::json_answer(200, kInfo))}});
  REQUIRE(fixture.loop.await(fixture.client->negotiate(soon())));
  bool answered = false;
  asio::co_spawn(fixture.loop.context(), fixture.client->info(soon()),
                 [&](std::exception_ptr, Result<SystemInfo> info) { answered = info.has_value(); });
  fixture.loop.poll();
  REQUIRE(fixture.engine.wait_until_at_gate("later"));
  CHECK_FALSE(answered);
  fixture.engine.on("GET /containers/json", {answer_json(200, "[]")});
  CHECK(fixture.loop.await(fixture.client->list_containers("k", soon())));
  CHECK_FALSE(answered);
  fixture.engine.open_gate("later");
  while (!answered && fixture.loop.context().run_one() > 0) continue;
  CHECK(answered);
}

TEST_CASE("a refusal that comes before the engine has read the body is what the caller gets") {
  ScriptedClient fixture;
  const auto refusal = answer_json(404, R"({"message":"No such container"})");
  fixture.engine.on("PUT /containers/c/archive", {refusal});
  const auto put =
      fixture.loop.await(fixture.client->put_archive("c", "/", std::string(1U << 20U, 't'), soon()));
  REQUIRE_FALSE(put);
  CHECK(put.error().code == ErrorCode::not_found);
}

TEST_CASE("an engine on a loopback TCP port is spoken to like one on a socket") {
  ScriptedClient fixture(test::ScriptedEngine::Transport::tcp);
  fixture.engine.on("GET /info", {answer_json(200, kInfo)});
  fixture.engine.on("GET /_ping", {{test::reset_connection()}});
  CHECK(fixture.loop.await(fixture.client->info(soon())).value().name == "scripted");
  const auto reset = fixture.loop.await(fixture.client->ping(soon()));
  REQUIRE_FALSE(reset);
  CHECK(reset.error().code == ErrorCode::engine_unreachable);
}

}  // namespace
}  // namespace mayfly::docker

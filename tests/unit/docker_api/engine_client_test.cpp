// What each typed call sends, and what it makes of each answer.
#include "docker_api/engine_client.hpp"

#include <catch2/catch.hpp>

#include "scripted_client.hpp"

namespace mayfly::docker {
namespace {

using test::answer_json;
using test::EngineScript;
using test::send_bytes;

const EngineScript kNoContent{send_bytes("HTTP/1.1 204 No Content\r\n\r\n")};
const EngineScript kGone = answer_json(404, R"({"message":"No such container"})");
const EngineScript kCreatedContainer =
    answer_json(200, R"({"Id":"i","Name":"/c","State":{"Status":"created"}})");

template <class T>
ErrorCode code_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error().code;
}

std::string target_of_last(const ScriptedClient& fixture) {
  return fixture.engine.requests().back().target;
}

TEST_CASE("a container is created under its name with the body of its configuration") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/create", {answer_json(201, R"({"Id":"abc","Warnings":["w"]})")});
  ContainerConfig config;
  config.image = "sha256:x";
  const auto created = fixture.loop.await(fixture.client->create_container("mayfly-1", config, soon()));
  REQUIRE(created);
  CHECK(created->id == "abc");
  CHECK(created->warnings == std::vector<std::string>{"w"});
  const auto seen = fixture.engine.requests().back();
  CHECK(seen.target == "/v1.41/containers/create?name=mayfly-1");
  CHECK(Json::parse(seen.body) == to_json(config));
  CHECK_THAT(seen.head, Catch::Contains("Content-Type: application/json"));
  CHECK(fixture.observed.back() == "containers/create ok");
}

TEST_CASE("D03 each refusal of the engine is an error of its own") {
  ScriptedClient fixture;
  const auto refused_with = [&](int status) {
    fixture.engine.on("POST /containers/create", {answer_json(status, R"({"message":"because"})")});
    const auto refused = fixture.loop.await(fixture.client->create_container("c", {}, soon()));
    CHECK_THAT(refused.error().message, Catch::Contains("/containers/create") && Catch::Contains("because"));
    return code_of(refused);
  };
  CHECK(refused_with(400) == ErrorCode::invalid_argument);
  CHECK(refused_with(404) == ErrorCode::not_found);
  CHECK(refused_with(409) == ErrorCode::conflict);
  CHECK(refused_with(500) == ErrorCode::engine_refused);
  CHECK(refused_with(503) == ErrorCode::engine_refused);
  CHECK(fixture.observed.back() == "containers/create engine_refused");
}

TEST_CASE("V07 a name that leads elsewhere never reaches the engine") {
  ScriptedClient fixture;
  for (const char* name : {"..", "%2e%2e", "a/../../info", "a%00", "", "a;b", "a\\b"}) {
    CHECK(code_of(fixture.loop.await(fixture.client->inspect_container(name, soon()))) ==
          ErrorCode::invalid_argument);
    CHECK(code_of(fixture.loop.await(fixture.client->create_container(name, {}, soon()))) ==
          ErrorCode::invalid_argument);
    CHECK(code_of(fixture.loop.await(fixture.client->remove_container(name, soon()))) ==
          ErrorCode::invalid_argument);
    CHECK(code_of(fixture.loop.await(fixture.client->attach(name, soon()))) == ErrorCode::invalid_argument);
    CHECK(code_of(fixture.loop.await(fixture.client->remove_volume(name, soon()))) ==
          ErrorCode::invalid_argument);
    CHECK(code_of(fixture.loop.await(fixture.client->inspect_image(name, soon()))) ==
          ErrorCode::invalid_argument);
    const VolumeConfig volume{.name = name, .options = {}, .labels = {}};
    CHECK(code_of(fixture.loop.await(fixture.client->create_volume(volume, soon()))) ==
          ErrorCode::invalid_argument);
  }
  CHECK(fixture.engine.connections() == 0);
}

TEST_CASE("starting a container that runs already is fine") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/start",
                    {kNoContent, {send_bytes("HTTP/1.1 304 Not Modified\r\n\r\n")}, kGone});
  CHECK(fixture.loop.await(fixture.client->start_container("c", soon())));
  CHECK(fixture.loop.await(fixture.client->start_container("c", soon())));
  CHECK(code_of(fixture.loop.await(fixture.client->start_container("c", soon()))) == ErrorCode::not_found);
}

TEST_CASE("F20 killing a container that does not run is fine and killing none is not") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/kill",
                    {kNoContent, answer_json(409, R"({"message":"not running"})"), kGone});
  CHECK(fixture.loop.await(fixture.client->kill_container("c", "SIGTERM", soon())));
  CHECK_THAT(target_of_last(fixture), Catch::EndsWith("?signal=SIGTERM"));
  CHECK(fixture.loop.await(fixture.client->kill_container("c", "SIGKILL", soon())));
  CHECK(code_of(fixture.loop.await(fixture.client->kill_container("c", "SIGKILL", soon()))) ==
        ErrorCode::not_found);
}

TEST_CASE("F13 a wait gives the code that the engine gives and nothing else") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/wait",
                    {answer_json(200, R"({"StatusCode":42,"Error":null})"),
                     answer_json(200, R"({"StatusCode":null})"), answer_json(200, "{}")});
  CHECK(fixture.loop.await(fixture.client->wait_container("c", soon())).value() == 42);
  CHECK_THAT(target_of_last(fixture), Catch::EndsWith("?condition=not-running"));
  CHECK(code_of(fixture.loop.await(fixture.client->wait_container("c", soon()))) == ErrorCode::protocol);
  CHECK(code_of(fixture.loop.await(fixture.client->wait_container("c", soon()))) == ErrorCode::protocol);
}

TEST_CASE("F13 a wait that is cut after its head is no exit code") {
  ScriptedClient fixture;
  const EngineScript cut{send_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                         test::close_connection()};
  fixture.engine.on("POST /containers/c/wait", {cut});
  CHECK(code_of(fixture.loop.await(fixture.client->wait_container("c", soon()))) ==
        ErrorCode::engine_unreachable);
}

TEST_CASE("removing tells what was removed from what was gone") {
  ScriptedClient fixture;
  fixture.engine.on("DELETE /containers/c", {kNoContent, kGone, answer_json(500, R"({"message":"busy"})")});
  CHECK(fixture.loop.await(fixture.client->remove_container("c", soon())).value() == RemoveOutcome::removed);
  CHECK_THAT(target_of_last(fixture), Catch::EndsWith("?force=1&v=1"));
  CHECK(fixture.loop.await(fixture.client->remove_container("c", soon())).value() ==
        RemoveOutcome::already_gone);
  CHECK(code_of(fixture.loop.await(fixture.client->remove_container("c", soon()))) ==
        ErrorCode::engine_refused);
}

TEST_CASE("a removal that is in progress is watched until the container is gone") {
  ScriptedClient fixture;
  fixture.engine.on("DELETE /containers/c", {answer_json(409, R"({"message":"in progress"})")});
  fixture.engine.on("GET /containers/c/json", {kCreatedContainer, kCreatedContainer, kGone});
  CHECK(fixture.loop.await(fixture.client->remove_container("c", soon())).value() == RemoveOutcome::removed);
  CHECK(fixture.engine.count("GET /containers/c/json") == 3);
  CHECK(fixture.engine.count("DELETE /containers/c") == 1);
}

TEST_CASE("a removal that stays in progress ends at the deadline") {
  ScriptedClient fixture;
  fixture.engine.on("DELETE /containers/c", {answer_json(409, R"({"message":"in progress"})")});
  fixture.engine.on("GET /containers/c/json", {kCreatedContainer});
  const auto result = fixture.loop.await(fixture.client->remove_container("c", Deadline::in(Millis(200))));
  CHECK(code_of(result) == ErrorCode::deadline_exceeded);
}

TEST_CASE("listing asks for all containers with the label") {
  ScriptedClient fixture;
  fixture.engine.on("GET /containers/json",
                    {answer_json(200, R"([{"Id":"i","Names":["/c"],"State":"exited"}])")});
  const auto listed = fixture.loop.await(fixture.client->list_containers("a=b&c", soon())).value();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].name == "c");
  CHECK(target_of_last(fixture) ==
        "/v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22a%3Db%26c%22%5D%7D");
}

TEST_CASE("an update hands the engine's warnings on") {
  ScriptedClient fixture;
  fixture.engine.on("POST /containers/c/update", {answer_json(200, R"({"Warnings":["no swap limit"]})")});
  UpdateConfig config;
  config.pids_limit = 7;
  const auto warnings = fixture.loop.await(fixture.client->update_container("c", config, soon())).value();
  CHECK(warnings == std::vector<std::string>{"no swap limit"});
  CHECK(fixture.engine.requests().back().body == R"({"PidsLimit":7})");
}

TEST_CASE("volumes are created and listed and removed") {
  ScriptedClient fixture;
  const char* volume = R"({"Name":"v","Driver":"local","Options":{"type":"tmpfs"},"Labels":{"k":"v"}})";
  fixture.engine.on("POST /volumes/create", {answer_json(201, volume)});
  fixture.engine.on("GET /volumes", {answer_json(200, "{\"Volumes\":[" + std::string(volume) + "]}")});
  fixture.engine.on("DELETE /volumes/v", {answer_json(409, R"({"message":"in use"})"), kNoContent, kGone});
  const VolumeConfig config{.name = "v", .options = {{"type", "tmpfs"}}, .labels = {{"k", "v"}}};
  CHECK(fixture.loop.await(fixture.client->create_volume(config, soon())).value().options == config.options);
  CHECK(fixture.loop.await(fixture.client->list_volumes("k=v", soon())).value().at(0).labels ==
        config.labels);
  CHECK(code_of(fixture.loop.await(fixture.client->remove_volume("v", soon()))) == ErrorCode::conflict);
  CHECK(fixture.loop.await(fixture.client->remove_volume("v", soon())).value() == RemoveOutcome::removed);
  CHECK(fixture.loop.await(fixture.client->remove_volume("v", soon())).value() ==
        RemoveOutcome::already_gone);
}

TEST_CASE("an archive over its bound is a protocol error and one within it comes whole") {
  ScriptedClient fixture;
  fixture.engine.on("GET /containers/c/archive", {answer_json(200, std::string(1024, 't'))});
  fixture.engine.on("PUT /containers/c/archive", {answer_json(200, "")});
  CHECK(fixture.loop.await(fixture.client->get_archive("c", "/a b", 1024, soon())).value() ==
        std::string(1024, 't'));
  CHECK_THAT(target_of_last(fixture), Catch::EndsWith("?path=%2Fa%20b"));
  CHECK(code_of(fixture.loop.await(fixture.client->get_archive("c", "/a", 1023, soon()))) ==
        ErrorCode::protocol);
  CHECK(fixture.loop.await(fixture.client->put_archive("c", "/a", std::string(300'000, 't'), soon())));
  CHECK(fixture.engine.requests().back().body == std::string(300'000, 't'));
  CHECK_THAT(fixture.engine.requests().back().head, Catch::Contains("application/x-tar"));
}

TEST_CASE("an import names its image") {
  ScriptedClient fixture;
  const std::string id = "sha256:" + std::string(64, 'b');
  fixture.engine.on("POST /images/create", {answer_json(200, "{\"status\":\"" + id + "\"}\r\n")});
  CHECK(fixture.loop.await(fixture.client->import_image("a/b", "1", "tar", soon())).value() == id);
  CHECK(target_of_last(fixture) == "/v1.41/images/create?fromSrc=-&repo=a%2Fb&tag=1");
}

}  // namespace
}  // namespace mayfly::docker

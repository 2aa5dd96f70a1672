#include <catch2/catch.hpp>

#include "docker_api/engine_error.hpp"
#include "docker_api/parse_answers.hpp"

namespace mayfly::docker {
namespace {

template <class T>
void check_protocol(const Result<T>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::protocol);
}

Json container(const char* state) {
  Json answer =
      R"({"Id":"i","Name":"/n","Image":"sha256:x","Config":{"Labels":{"k":"v"}},"New":{"in":"2031"}})"_json;
  answer["State"] = Json::parse(state);
  return answer;
}

TEST_CASE("F13 an exit code counts only after the end and null is not known") {
  const auto code = [](const char* state) {
    return parse_container(container(state)).value().state.exit_code;
  };
  CHECK_FALSE(code(R"({"Status":"created","ExitCode":0})"));
  CHECK_FALSE(code(R"({"Status":"running","ExitCode":0,"Running":true})"));
  CHECK_FALSE(code(R"({"Status":"restarting","ExitCode":1})"));
  CHECK_FALSE(code(R"({"Status":"exited","ExitCode":null})"));
  CHECK_FALSE(code(R"({"Status":"exited"})"));
  CHECK_FALSE(code(R"({"Status":"exited","ExitCode":9999999999})"));
  CHECK(code(R"({"Status":"exited","ExitCode":0})") == 0);
  CHECK(code(R"({"Status":"exited","ExitCode":42})") == 42);
  CHECK(code(R"({"Status":"dead","ExitCode":137})") == 137);
}

TEST_CASE("F13 a wait that answers without a code is an error and never 0") {
  CHECK(parse_wait(R"({"StatusCode":0,"Error":null})"_json).value() == 0);
  CHECK(parse_wait(R"({"StatusCode":42})"_json).value() == 42);
  for (const char* answer :
       {"{}", R"({"StatusCode":null})", R"({"StatusCode":"0"})", R"({"StatusCode":0.5})", "[]", "null"}) {
    CAPTURE(answer);
    check_protocol(parse_wait(Json::parse(answer)));
  }
  const auto refused = parse_wait(R"({"StatusCode":-1,"Error":{"Message":"removed\u001b[2J"}})"_json);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::engine_refused);
  CHECK_THAT(refused.error().message, Catch::Contains("removed") && !Catch::Contains("\x1b"));
}

TEST_CASE("D03 an answer with a field of another type is a protocol error and names the field") {
  check_protocol(parse_container(container(R"({"Status":"exited","ExitCode":"42"})")));
  check_protocol(parse_container(container(R"({"Status":5})")));
  check_protocol(parse_container(R"({"Id":"i","State":[]})"_json));
  check_protocol(parse_container(R"({"Name":"/n","State":{"Status":"exited"}})"_json));
  check_protocol(parse_created(R"({"Id":7})"_json));
  check_protocol(parse_created(R"({"Id":"i","Warnings":[1]})"_json));
  check_protocol(parse_created("[]"_json));
  check_protocol(parse_container_list("{}"_json));
  check_protocol(parse_container_list(R"([{"Id":"i","Labels":{"k":1}}])"_json));
  check_protocol(parse_volume(R"({"Name":""})"_json));
  check_protocol(parse_volume_list(R"({"Volumes":{}})"_json));
  check_protocol(parse_info(R"({"NCPU":"two"})"_json));
  check_protocol(parse_image(R"({"Id":"x","Config":{"Env":"PATH"}})"_json));
  CHECK_THAT(parse_info(R"({"NCPU":"two"})"_json).error().message, Catch::Contains("NCPU"));
}

TEST_CASE("D03 a body that is no JSON is a protocol error") {
  for (const char* body : {"", "{", "{\"Id\":\"a", "<html>", "{} {}", "\xff", "nul"})
    check_protocol(parse_body(body));
  check_protocol(parse_body(std::string(1000, '[')));
}

TEST_CASE("unknown fields pass and absent ones are the default") {
  const auto inspected =
      parse_container(container(R"({"Status":"running","Pid":7,"Health":{"Status":"odd"}})")).value();
  CHECK(inspected.id == "i");
  CHECK(inspected.name == "n");
  CHECK(inspected.image == "sha256:x");
  CHECK(inspected.labels == Labels{{"k", "v"}});
  CHECK(inspected.state.pid == 7);
  CHECK(inspected.raw["New"]["in"] == "2031");
  CHECK(parse_created(R"({"Id":"i","Warnings":null})"_json).value().warnings.empty());
  CHECK(parse_created(R"({"Id":"i","Warnings":["w"]})"_json).value().warnings ==
        std::vector<std::string>{"w"});
  CHECK(parse_update(R"({"Warnings":["w"]})"_json).value() == std::vector<std::string>{"w"});
  CHECK(parse_volume_list(R"({"Volumes":null,"Warnings":null})"_json).value().empty());
}

TEST_CASE("a listed container without a name is listed all the same") {
  const auto listed =
      parse_container_list(
          R"([{"Id":"a","Names":["/x","/y/x"],"State":"exited","Labels":null},{"Id":"b"}])"_json)
          .value();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == "x");
  CHECK(listed[0].state == "exited");
  CHECK(listed[1].name.empty());
}

TEST_CASE("an engine's description of itself is read") {
  const auto info =
      parse_info(R"({"Driver":"overlay2","DriverStatus":[["Backing Filesystem","extfs"],["x"],7],
    "CgroupDriver":"cgroupfs","CgroupVersion":"1","NCPU":2,"MemTotal":1024,"LiveRestoreEnabled":true,
    "Runtimes":{"runc":{"path":"runc"},"runsc":{}},"SecurityOptions":["name=seccomp"]})"_json)
          .value();
  CHECK(info.storage_driver == "overlay2");
  CHECK(info.backing_filesystem == "extfs");
  CHECK(info.processors == 2);
  CHECK(info.live_restore);
  CHECK(info.runtimes == std::vector<std::string>{"runc", "runsc"});
}

TEST_CASE("an image's own volumes and environment are read") {
  const auto image = parse_image(R"({"Id":"sha256:x","RepoTags":null,"Config":{"Env":["A=b"],
    "Volumes":{"/data":{}},"Entrypoint":null}})"_json)
                         .value();
  CHECK(image.volumes == std::vector<std::string>{"/data"});
  CHECK(image.env == std::vector<std::string>{"A=b"});
  CHECK(image.entrypoint.empty());
  CHECK(parse_image(R"({"Id":"sha256:x"})"_json));
}

TEST_CASE("the last line of an import names the image or the error") {
  const std::string id = "sha256:" + std::string(64, 'a');
  CHECK(parse_import("{\"status\":\"Importing\"}\r\n{\"status\":\"" + id + "\"}\r\n").value() == id);
  const auto refused = parse_import("{\"errorDetail\":{\"message\":\"x\"},\"error\":\"unexpected EOF\"}\r\n");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::engine_refused);
  CHECK_THAT(refused.error().message, Catch::Contains("unexpected EOF"));
  check_protocol(parse_import(""));
  check_protocol(parse_import("{\"status\":\"Importing\"}\r\n"));
}

TEST_CASE("D03 an engine's words are cut to 1 KiB and harmless on a terminal") {
  const std::string body = R"({"message":"\u001b]0;x)" + std::string(5000, 'y') + "\"}";
  const auto refused = fail_answer(500, body).value();
  CHECK(refused.code == ErrorCode::engine_refused);
  CHECK(refused.message.size() < 1200);
  CHECK_THAT(refused.message, Catch::Contains("yyy") && !Catch::Contains("\x1b"));
}

TEST_CASE("an engine's status decides the error and its words never do") {
  const auto code = [](unsigned status) {
    return fail_answer(status, R"({"message":"No such container"})").value().code;
  };
  CHECK(code(400) == ErrorCode::invalid_argument);
  CHECK(code(404) == ErrorCode::not_found);
  CHECK(code(409) == ErrorCode::conflict);
  for (const unsigned status : {100U, 301U, 401U, 403U, 500U, 503U, 599U})
    CHECK(code(status) == ErrorCode::engine_refused);
  for (const char* body : {"", "<html>", "[]", "{}", R"({"message":5})"})
    CHECK_THAT(fail_answer(500, body).value().message, Catch::Contains("no reason given"));
}

}  // namespace
}  // namespace mayfly::docker

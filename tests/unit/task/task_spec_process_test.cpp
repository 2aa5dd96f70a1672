// Command, script, environment, working directory and stdin of a spec.
#include "unit/task/spec_faults.hpp"

using namespace mayfly;

namespace {

Json script_spec(Json script) {
  return {{"image", "busybox"}, {"script", std::move(script)}};
}

}  // namespace

TEST_CASE("a task has exactly one of command and script") {
  CHECK(faults_of({{"image", "a"}}) == Faults{"/command required"});
  auto both = minimal_spec();
  both["script"] = "true";
  CHECK(faults_of(both) == Faults{"/command conflict"});
  CHECK(faults_of({{"image", "a"}, {"script", "x"}, {"script_base64", "eA=="}}) ==
        Faults{"/script_base64 conflict"});
}

TEST_CASE("a command names its program and its arguments are text without NUL") {
  CHECK(faults_of(spec_with("command", Json::array())) == Faults{"/command out_of_range"});
  CHECK(faults_of(spec_with("command", {""})) == Faults{"/command/0 out_of_range"});
  CHECK(faults_of(spec_with("command", {"a", ""})).empty());
  CHECK(faults_of(spec_with("command", {5, ""})) == Faults{"/command/0 wrong_type"});
  CHECK(faults_of(spec_with("command", "ls -l")) == Faults{"/command wrong_type"});
  CHECK(faults_of(spec_with("command", {"a", std::string("b\0c", 3)})) == Faults{"/command/1 bad_format"});
  CHECK(faults_of(spec_with("command", {"a", "\xff"})) == Faults{"/command/1 bad_format"});
  CHECK(faults_of(spec_with("command", std::vector<std::string>(1024, "a"))).empty());
  CHECK(faults_of(spec_with("command", std::vector<std::string>(1025, "a"))) ==
        Faults{"/command out_of_range"});
}

TEST_CASE("F35 an argument is as long as the kernel can take and a longer one is told to go by file") {
  CHECK(faults_of(spec_with("command", {"a", std::string(131'071, 'x')})).empty());
  const auto too_long = spec_with("command", {"a", std::string(131'072, 'x')});
  CHECK(faults_of(too_long) == Faults{"/command/1 out_of_range"});
  CHECK_THAT(first_detail_of(too_long), Catch::Contains("input file"));
}

TEST_CASE("F35 environment values are kept byte for byte") {
  const std::map<std::string, std::string> env = {{"PEM", "-----BEGIN KEY-----\nabc=\n-----END KEY-----\n"},
                                                  {"EQUALS", "a=b=c"},
                                                  {"EMPTY", ""},
                                                  {"QUOTES", "\"'`$(id)`'\\"},
                                                  {"JAPANESE", "日本語"},
                                                  {"TRAILING", "x\n"},
                                                  {"lower.case-1", "\t"}};
  CHECK(parse_task_spec(spec_with("env", env)).value().env == env);
}

TEST_CASE("F35 environment names that no shell can use are refused with the reason") {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "empty"},          {"A B", "white space"}, {"A\tB", "white space"},
      {"A=B", "'='"},         {"=", "'='"},           {std::string("A\0", 2), "control"},
      {"A\n", "white space"}, {"\xff", "UTF-8"}};
  for (const auto& [name, why] : wrong) {
    const auto json = spec_with("env", Json{{name, "v"}});
    CHECK(faults_of(json) == Faults{"/env/" + name + " bad_format"});
    CHECK_THAT(first_detail_of(json), Catch::Contains(why));
  }
}

TEST_CASE("F35 an environment value is text and a fault never shows it") {
  CHECK(faults_of(spec_with("env", {{"K", std::string("se\0cret", 7)}})) == Faults{"/env/K bad_format"});
  CHECK(faults_of(spec_with("env", {{"K", 1}})) == Faults{"/env/K wrong_type"});
  CHECK_THAT(first_detail_of(spec_with("env", {{"K", 1}})), Catch::Contains("in quotes"));
  CHECK(faults_of(spec_with("env", {{"K", nullptr}})) == Faults{"/env/K wrong_type"});
  CHECK(faults_of(spec_with("env", {"K=v"})) == Faults{"/env wrong_type"});
  const auto hidden = spec_with("env", {{"K", "hunter2\xff"}});
  CHECK_THAT(first_detail_of(hidden), !Catch::Contains("hunter2"));
}

TEST_CASE("F35 a variable is as long as the kernel can take with its name") {
  CHECK(faults_of(spec_with("env", {{"K", std::string(131'069, 'x')}})).empty());
  const auto too_long = spec_with("env", {{"K", std::string(131'070, 'x')}});
  CHECK(faults_of(too_long) == Faults{"/env/K out_of_range"});
  CHECK_THAT(first_detail_of(too_long), Catch::Contains("input file"));
  CHECK(faults_of(spec_with("env", {{"K", std::string(140'000, 'x')}})) == Faults{"/env/K out_of_range"});
}

TEST_CASE("F35 command and environment together stay below what the kernel can take") {
  // Eight entries of 131071 bytes and their NULs fill one MiB to the byte; the command's "a" and NUL are two
  // more.
  Json env = Json::object();
  for (int i = 0; i < 8; ++i) env["K" + std::to_string(i)] = std::string(131'068, 'x');
  auto json = spec_with("env", env);
  json["command"] = {"a"};
  CHECK(faults_of(json) == Faults{"/command out_of_range"});
  CHECK_THAT(first_detail_of(json), Catch::Contains("1048578 bytes together"));
  json["env"]["K0"] = std::string(131'066, 'x');
  CHECK(faults_of(json).empty());
  for (int i = 8; i < 24; ++i) json["env"]["K" + std::to_string(i)] = std::string(131'000, 'x');
  json.erase("command");
  json["script"] = "true";
  CHECK(faults_of(json) == Faults{"/env out_of_range"});
}

TEST_CASE("an environment has at most 512 variables") {
  Json env = Json::object();
  for (int i = 0; i < 512; ++i) env["K" + std::to_string(i)] = "v";
  CHECK(faults_of(spec_with("env", env)).empty());
  env["ONE_MORE"] = "v";
  CHECK(faults_of(spec_with("env", env)) == Faults{"/env out_of_range"});
}

TEST_CASE("a script is any bytes but NUL and is never empty") {
  CHECK(parse_task_spec(script_spec("#!/bin/sh\necho é\n")).value().script == "#!/bin/sh\necho é\n");
  CHECK(parse_task_spec({{"image", "a"}, {"script_base64", "//8="}}).value().script == "\xff\xff");
  CHECK(faults_of(script_spec("")) == Faults{"/script out_of_range"});
  CHECK(faults_of(script_spec(std::string("a\0b", 3))) == Faults{"/script bad_format"});
  CHECK(faults_of({{"image", "a"}, {"script_base64", "AAAA"}}) == Faults{"/script_base64 bad_format"});
  CHECK(faults_of(script_spec(std::string(1U << 20U, 'x'))).empty());
  CHECK(faults_of(script_spec(std::string((1U << 20U) + 1, 'x'))) == Faults{"/script out_of_range"});
  CHECK(faults_of(script_spec({"echo"})) == Faults{"/script wrong_type"});
}

TEST_CASE("a working directory is absolute and has no dots to follow") {
  for (const std::string path : {"/", "/workspace", "/workspace/a b", "/tmp", "/usr/src/app", "/a/..b/.c"}) {
    INFO(path);
    CHECK(parse_task_spec(spec_with("working_dir", path)).value().working_dir == path);
  }
  for (const std::string path :
       {"workspace", "./a", "/a/", "//", "/a//b", "/a/./b", "/workspace/../etc", "/.."}) {
    INFO(path);
    CHECK(faults_of(spec_with("working_dir", path)) == Faults{"/working_dir bad_format"});
  }
  CHECK(faults_of(spec_with("working_dir", "")) == Faults{"/working_dir out_of_range"});
  CHECK(faults_of(spec_with("working_dir", "/" + std::string(1024, 'a'))) ==
        Faults{"/working_dir out_of_range"});
  CHECK(faults_of(spec_with("working_dir", std::string("/a\0b", 4))) == Faults{"/working_dir bad_format"});
}

TEST_CASE("stdin is bytes up to one MiB") {
  CHECK(parse_task_spec(spec_with("stdin", std::string("a\0b", 3))).value().stdin_data ==
        std::string("a\0b", 3));
  CHECK(parse_task_spec(spec_with("stdin_base64", "//8A")).value().stdin_data ==
        std::string("\xff\xff\0", 3));
  CHECK(faults_of(spec_with("stdin_base64", "x")) == Faults{"/stdin_base64 bad_format"});
  CHECK(faults_of(spec_with("stdin", std::string((1U << 20U) + 1, 'x'))) == Faults{"/stdin out_of_range"});
}

// Inputs and outputs of a spec.
#include "unit/task/spec_faults.hpp"

using namespace mayfly;

namespace {

Json input(const std::string& path, const std::string& content = "x") {
  return {{"path", path}, {"content", content}};
}
Json spec_with_inputs(const std::vector<Json>& inputs) {
  return spec_with("inputs", inputs);
}

}  // namespace

TEST_CASE("an input has a path and its bytes") {
  CHECK(faults_of(spec_with_inputs({input("a", "")})).empty());
  CHECK(faults_of(spec_with_inputs({{{"content", "x"}}})) == Faults{"/inputs/0/path required"});
  CHECK(faults_of(spec_with_inputs({{{"path", "a"}}})) == Faults{"/inputs/0 required"});
  CHECK(faults_of(spec_with_inputs({"a"})) == Faults{"/inputs/0 wrong_type"});
  CHECK(faults_of(spec_with_inputs({{{"path", "a"}, {"content", "x"}, {"content_base64", ""}}})) ==
        Faults{"/inputs/0/content_base64 conflict"});
  CHECK(faults_of(spec_with_inputs({{{"path", "a"}, {"content_base64", "%"}}})) ==
        Faults{"/inputs/0/content_base64 bad_format"});
  auto with_owner = input("a");
  with_owner["owner"] = "root";
  CHECK(faults_of(spec_with_inputs({with_owner})) == Faults{"/inputs/0/owner unknown_field"});
}

TEST_CASE("an input cannot stand outside the workspace") {
  for (const std::string path : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "."}) {
    INFO(path);
    CHECK(faults_of(spec_with_inputs({input(path)})) == Faults{"/inputs/0/path bad_format"});
  }
  CHECK(faults_of(spec_with_inputs({input(std::string("a\0b", 3))})) == Faults{"/inputs/0/path bad_format"});
}

TEST_CASE("two inputs cannot take the same place") {
  CHECK(faults_of(spec_with_inputs({input("a/b"), input("a/c"), input("a.b"), input("ab")})).empty());
  CHECK(faults_of(spec_with_inputs({input("a"), input("b"), input("a")})) ==
        Faults{"/inputs/2/path duplicate"});
  CHECK(faults_of(spec_with_inputs({input("a"), input("a/b")})) == Faults{"/inputs/1/path conflict"});
  CHECK(faults_of(spec_with_inputs({input("a/b/c"), input("a-"), input("a")})) ==
        Faults{"/inputs/2/path conflict"});
}

TEST_CASE("a mode is octal text without set-id bits") {
  const auto with_mode = [](Json mode) {
    auto file = input("a");
    file["mode"] = std::move(mode);
    return spec_with_inputs({file});
  };
  CHECK(parse_task_spec(with_mode("0755")).value().inputs[0].mode == 0755);
  CHECK(parse_task_spec(with_mode("600")).value().inputs[0].mode == 0600);
  CHECK(parse_task_spec(with_mode("0000")).value().inputs[0].mode == 0);
  for (const std::string mode : {"", "4755", "2755", "1777", "0888", "07555", "75", "rwx", "-644", "0x1f"}) {
    INFO(mode);
    CHECK(faults_of(with_mode(mode)) == Faults{"/inputs/0/mode bad_format"});
  }
  CHECK(faults_of(with_mode(644)) == Faults{"/inputs/0/mode wrong_type"});
  CHECK_THAT(first_detail_of(with_mode(644)), Catch::Contains("in quotes"));
}

TEST_CASE("inline inputs have at most one MiB together and 256 files") {
  const std::string half(512U << 10U, 'x');
  CHECK(faults_of(spec_with_inputs({input("a", half), input("b", half)})).empty());
  CHECK(faults_of(spec_with_inputs({input("a", half), input("b", half), input("c", "x")})) ==
        Faults{"/inputs out_of_range"});
  std::vector<Json> many;
  for (int i = 0; i < 257; ++i) many.push_back(input("f" + std::to_string(i)));
  CHECK(faults_of(spec_with_inputs(many)) == Faults{"/inputs out_of_range"});
}

TEST_CASE("output patterns are bounded together since they travel in one record") {
  CHECK(faults_of(spec_with("outputs", std::vector<std::string>(4, std::string(1000, 'a')))).empty());
  CHECK(faults_of(spec_with("outputs", std::vector<std::string>(5, std::string(1000, 'a')))) ==
        Faults{"/outputs out_of_range"});
}

TEST_CASE("outputs are patterns below the workspace") {
  CHECK(faults_of(spec_with("outputs", {"out/**", "*.txt", "a/[a-z]?.bin"})).empty());
  CHECK(faults_of(spec_with("outputs", {"ok", "../x"})) == Faults{"/outputs/1 bad_format"});
  CHECK(faults_of(spec_with("outputs", {"/etc/*"})) == Faults{"/outputs/0 bad_format"});
  CHECK(faults_of(spec_with("outputs", {""})) == Faults{"/outputs/0 out_of_range"});
  CHECK(faults_of(spec_with("outputs", "out")) == Faults{"/outputs wrong_type"});
  CHECK(faults_of(spec_with("outputs", std::vector<std::string>(65, "a"))) ==
        Faults{"/outputs out_of_range"});
}

#include "policy/yaml.hpp"

#include <catch2/catch.hpp>

#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::faults_of;

Json value_of(std::string_view text) {
  const auto document = parse_yaml(text, "t.yaml");
  INFO(faults_of(document));
  REQUIRE(document);
  return document->value;
}

std::string refusal_of(std::string_view text) {
  return faults_of(parse_yaml(text, "t.yaml"));
}

TEST_CASE("a task file becomes the same value as its JSON") {
  const auto yaml = value_of(
      "kind: command\nimage: python:3.12   # a comment\ncommand: [python3, a.py]\nenv: {K: v}\n"
      "inputs:\n- {path: a.py, content: \"print(1)\\n\"}\nlimits:\n  cpus: 0.5\n  memory: 512Mi\n  pids: "
      "128\n"
      "script: |\n  set -e\n  \tindented by a tab\n");
  const auto json = value_of(
      "{\"kind\": \"command\", \"image\": \"python:3.12\", \"command\": [\"python3\", \"a.py\"], \"env\": "
      "{\"K\": \"v\"},\n"
      "\t\"inputs\": [{\"path\": \"a.py\", \"content\": \"print(1)\\n\"}],\n"
      "\t\"limits\": {\"cpus\": 0.5, \"memory\": \"512Mi\", \"pids\": 128},\n"
      "\t\"script\": \"set -e\\n\\tindented by a tab\\n\"}\n");
  CHECK(yaml == json);
  CHECK(yaml["limits"]["cpus"] == 0.5);
}

TEST_CASE("every value has its place and a map within a map the place of its key") {
  const auto document = parse_yaml("a:\n  b: 1\n  c:\n    - x\n    -  y\n\"k/~\": \"q\"\n", "t.yaml");
  REQUIRE(document);
  const auto at = [&](const char* pointer) { return to_string(document->places.at(pointer)); };
  CHECK(at("") == "t.yaml:1:1");
  CHECK(at("/a") == "t.yaml:1:1");
  CHECK(at("/a/b") == "t.yaml:2:6");
  CHECK(at("/a/c") == "t.yaml:3:3");
  CHECK(at("/a/c/1") == "t.yaml:5:8");
  CHECK(at("/k~1~0") == "t.yaml:6:8");
  CHECK(document->places.size() == 7);
}

TEST_CASE("the place of something absent is that of what is around it") {
  const auto document = parse_yaml("a:\n  b: 1\n", "t.yaml");
  REQUIRE(document);
  CHECK(to_string(place_of(*document, "/a/x/y")) == "t.yaml:1:1");
  CHECK(to_string(place_of(*document, "/a/b")) == "t.yaml:2:6");
}

TEST_CASE("places count lines the same with a byte order mark and with Windows line ends") {
  const auto document = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: null\r\nc: [~, Null]\r\n",
      "t.yaml");
  REQUIRE(document);
  CHECK(to_string(document->places.at("/a")) == "t.yaml:1:4");
  CHECK(to_string(document->places.at("/b")) == "t.yaml:2:4");
  CHECK(document->spellings.at("/b") == "null");
  CHECK(document->spellings.at("/c/0") == "~");
  CHECK(document->spellings.at("/c/1") == "Null");
}

TEST_CASE("a key path reads as people say it") {
  CHECK(key_path("") == "");
  CHECK(key_path("/spec/limits/0/a~1b") == "spec.limits[0].a/b");
}

TEST_CASE("an empty file is null and has a place") {
  const auto document = parse_yaml("# nothing\n", "t.yaml");
  REQUIRE(document);
  CHECK(document->value.is_null());
  CHECK(to_string(place_of(*document, "/x")) == "t.yaml:1:1");
}

TEST_CASE("V04 Y02 a duplicate key is refused with both lines") {
  CHECK_THAT(refusal_of("a:\n  b: 1\n  c: 2\n  b: 3\n"),
             StartsWith("duplicate_key at t.yaml:4:3: ") && Contains("line 2") && Contains("(in a)"));
  CHECK_THAT(refusal_of("{a: 1, \"a\": 2}"), StartsWith("duplicate_key at t.yaml:1:8: "));
}

TEST_CASE("V04 aliases and anchors and tags and merge keys and directives are refused where they stand") {
  CHECK_THAT(refusal_of("a: &x 1\nb: *x\n"), StartsWith("forbidden_anchor at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: 1\nb: *x\n"), StartsWith("syntax at t.yaml:2:4: "));
  CHECK_THAT(refusal_of("&x a: 1\n"), StartsWith("forbidden_anchor at t.yaml:1:1: "));
  CHECK_THAT(refusal_of("a: &x\n  b: 1\n"), StartsWith("forbidden_anchor at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: !!int 5\n"), StartsWith("forbidden_tag at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: ! 5\n"), StartsWith("forbidden_tag at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: !exec [x]\n"), StartsWith("forbidden_tag at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: ! {b: 1}\n"), StartsWith("forbidden_tag at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: !!null\n"), StartsWith("forbidden_tag at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: 1\n<<: {b: 2}\n"), StartsWith("forbidden_merge_key at t.yaml:2:1: "));
  CHECK_THAT(refusal_of("%YAML 1.2\n---\na: 1\n"), StartsWith("forbidden_directive at t.yaml:1:1: "));
  CHECK_THAT(refusal_of("a: 1\n%TAG ! x\n"), StartsWith("forbidden_directive at t.yaml:2:1: "));
  CHECK(value_of("\"<<\": 1\n") == Json({{"<<", 1}}));
}

TEST_CASE("V04 a second document is refused and a document's end is not") {
  CHECK_THAT(refusal_of("a: 1\n---\nb: 2\n"), StartsWith("second_document at t.yaml:2:1: "));
  CHECK_THAT(refusal_of("a: 1\n---\n"), StartsWith("second_document at "));
  CHECK_THAT(refusal_of("a: 1\n... junk\n"), StartsWith("second_document at "));
  CHECK_THAT(refusal_of("[1] [2]\n"), StartsWith("second_document at t.yaml:1:5: "));
  CHECK(value_of("---\na: 1\n...\n") == Json({{"a", 1}}));
}

TEST_CASE("Y02 a tab in indentation is refused as such") {
  for (const char* text :
       {"a:\n\tb: 1\n", "a:\n\tfoo\n", "a:\n  \tb: 1\n", "a:\n\t- 1\n", "\ta: 1\n", "a: |\n\tfoo\n"}) {
    CAPTURE(text);
    CHECK_THAT(refusal_of(text), StartsWith("tab_indentation at t.yaml:"));
  }
  CHECK(value_of("a:\t1\n") == Json({{"a", 1}}));
}

TEST_CASE("a key that is no text is refused") {
  CHECK_THAT(refusal_of("? [a, b]\n: c\n"), StartsWith("bad_key at "));
  CHECK_THAT(refusal_of("? {a: b}\n: c\n"), StartsWith("bad_key at "));
  CHECK_THAT(refusal_of("~: 1\n"), StartsWith("bad_key at t.yaml:1:1: "));
  CHECK_THAT(refusal_of(": 1\n"), StartsWith("bad_key at "));
  CHECK(value_of("no: 1\n1.10: 2\n") == Json({{"no", 1}, {"1.10", 2}}));
}

TEST_CASE("broken syntax is refused with its place and key path") {
  CHECK_THAT(refusal_of("a: b: c\n"), StartsWith("syntax at t.yaml:1:5: "));
  CHECK_THAT(refusal_of("a:\n  b: [1, 2\n"), StartsWith("syntax at ") && Contains("a.b"));
  CHECK_THAT(refusal_of("a: @x\n"), StartsWith("syntax at t.yaml:1:4: "));
  CHECK_THAT(refusal_of("a: \"x\" y\n"), StartsWith("syntax at "));
}

TEST_CASE("a quote that is never closed is refused although yaml-cpp takes it") {
  CHECK_THAT(refusal_of("image: \"python\nlimits: 1\n"),
             StartsWith("syntax at t.yaml:1:8: ") && Contains("never closed"));
  CHECK_THAT(refusal_of("image: 'it''s\nlimits: 1\n"), StartsWith("syntax at t.yaml:1:8: "));
  CHECK(value_of("a: 'it''s'\nb: \"\\\"\"\nc: ''\n") == Json({{"a", "it's"}, {"b", "\""}, {"c", ""}}));
}

TEST_CASE("bytes that are no UTF-8 and raw control characters are refused") {
  CHECK_THAT(refusal_of("a: \xFF\n"), StartsWith("bad_encoding at t.yaml:1:1: "));
  CHECK_THAT(refusal_of("a: 1\nb: \x1b[2J\n"), StartsWith("bad_encoding at t.yaml:2:4: "));
  CHECK_THAT(refusal_of(std::string_view("a: 1\0\n", 6)), StartsWith("bad_encoding at t.yaml:1:5: "));
  CHECK_THAT(refusal_of("a: 1\rb: 2\n"), StartsWith("bad_encoding at t.yaml:1:5: "));
  CHECK(value_of("a: \"\\x1b\"\n") == Json({{"a", "\x1b"}}));
}

}  // namespace
}  // namespace mayfly

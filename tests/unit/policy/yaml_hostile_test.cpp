// Texts made to exhaust a YAML reader. Each test runs as a process of its own under ctest's time-out.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "policy/yaml.hpp"
#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::faults_of;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kMostKib = 1024 * 1024;  // a sanitizer keeps freed memory and shadows all of it
#else
constexpr std::size_t kMostKib = 100 * 1024;
#endif

std::size_t status_kib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    std::size_t kib = 0;
    if (key == name && status >> kib) return kib;
    std::getline(status, key);
  }
  return 0;
}

// The refusal, after a check that it took little memory beside the text.
std::string refusal_in_little_memory(const std::string& text) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM to VmRSS
  const std::size_t before = status_kib("VmRSS:");
  std::string faults = faults_of(parse_yaml(text, "t.yaml"));
  const std::size_t peak = status_kib("VmHWM:");
  REQUIRE(before > 0);
  CHECK(peak - before < kMostKib);
  return faults;
}

std::string repeat(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

std::string numbered(const std::string& before, std::size_t times, const std::string& after) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += before + std::to_string(i) + after;
  return text;
}

TEST_CASE("F43 V04 twenty thousand opening brackets are refused by depth") {
  CHECK_THAT(refusal_in_little_memory(repeat("[", 20'000)),
             StartsWith("bad_key at t.yaml:1:1: ") && Contains("never closed"));
  CHECK_THAT(refusal_in_little_memory(repeat("[", 20'000) + repeat("]", 20'000)), StartsWith("too_deep at "));
  CHECK_THAT(refusal_in_little_memory(repeat("- ", 20'000)), StartsWith("too_deep at "));
  CHECK_THAT(refusal_in_little_memory(repeat("? ", 20'000)), StartsWith("bad_key at "));
}

TEST_CASE("F43 twenty thousand nested maps are refused by depth") {
  CHECK_THAT(refusal_in_little_memory(repeat("{a: ", 20'000)),
             StartsWith("bad_key at t.yaml:1:1: ") && Contains("never closed"));
  CHECK_THAT(refusal_in_little_memory(repeat("{a: ", 20'000) + repeat("}", 20'000)),
             StartsWith("too_deep at t.yaml:1:129: "));
  std::string block;
  for (std::size_t i = 0; i < 1000; ++i) block += std::string(i, ' ') + "a:\n";
  CHECK_THAT(refusal_in_little_memory(block), StartsWith("too_deep at t.yaml:"));
}

TEST_CASE("a depth of 32 is read and one of 33 is not") {
  CHECK(faults_of(parse_yaml(repeat("[", 32) + repeat("]", 32), "t.yaml")) == "accepted");
  CHECK_THAT(faults_of(parse_yaml(repeat("[", 33) + repeat("]", 33), "t.yaml")),
             StartsWith("too_deep at t.yaml:1:33: "));
}

TEST_CASE("F43 V04 an alias bomb is refused at its first anchor") {
  std::string bomb = "a0: &a0 [lol, lol]\n";
  for (int level = 1; level < 10; ++level) {
    const std::string alias = "*a" + std::to_string(level - 1);
    bomb += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + alias +
            repeat(", " + alias, 8) + "]\n";
  }
  CHECK_THAT(refusal_in_little_memory(bomb), StartsWith("forbidden_anchor at t.yaml:1:5: "));
}

TEST_CASE("F43 an anchor that contains itself is refused") {
  CHECK_THAT(refusal_in_little_memory("a: &a [*a]\n"), StartsWith("forbidden_anchor at t.yaml:1:4: "));
  CHECK_THAT(refusal_in_little_memory("&a {b: *a}\n"), StartsWith("forbidden_anchor at t.yaml:1:1: "));
}

TEST_CASE("F43 a chain of fifty thousand aliases is refused") {
  std::string chain = "- &a0 x\n";
  for (int i = 1; i <= 50'000; ++i)
    chain += "- &a" + std::to_string(i) + " *a" + std::to_string(i - 1) + "\n";
  CHECK_THAT(refusal_in_little_memory(chain),
             StartsWith("too_large at ") || StartsWith("forbidden_anchor at t.yaml:1:3: "));
  chain.resize(chain.rfind('\n', 1'000'000) + 1);
  CHECK_THAT(refusal_in_little_memory(chain), StartsWith("forbidden_anchor at t.yaml:1:3: "));
}

TEST_CASE("F43 V04 a scalar of a hundred megabytes is refused by size before it is read") {
  CHECK_THAT(refusal_in_little_memory("a: " + std::string(100'000'000, 'x')),
             StartsWith("too_large at t.yaml:1:1: "));
}

TEST_CASE("F43 a million keys are refused by size and a hundred thousand by count") {
  CHECK_THAT(refusal_in_little_memory(numbered("k", 1'000'000, ": 1\n")),
             StartsWith("too_large at t.yaml:1:1: "));
  const std::string many = numbered("", 70'000, ": 1\n");
  REQUIRE(many.size() < yaml_limits::kBytes);
  CHECK_THAT(refusal_in_little_memory(many), StartsWith("too_large at t.yaml:50000:"));
  CHECK_THAT(refusal_in_little_memory("[" + repeat("1,", 120'000) + "]"),
             StartsWith("too_large at t.yaml:1:"));
}

TEST_CASE("F43 the largest text that is read takes bounded memory") {
  const std::string many = numbered("key", 40'000, ": 1.5\n");
  REQUIRE(many.size() < yaml_limits::kBytes);
  CHECK(refusal_in_little_memory(many) == "accepted");
  CHECK(refusal_in_little_memory("a: " + std::string(yaml_limits::kBytes - 3, 'x')) == "accepted");
  CHECK_THAT(refusal_in_little_memory("a: " + std::string(yaml_limits::kBytes - 2, 'x')),
             StartsWith("too_large at "));
}

TEST_CASE("F43 no text of brackets and commas takes more memory than another") {
  for (const char* piece : {"[", "{", "1,", "[],", "[1,\n", "{a: ", "[\n"}) {
    CAPTURE(piece);
    const std::string unit(piece);
    CHECK_THAT(refusal_in_little_memory("- [" + repeat(unit, 310'000)),
               StartsWith("too_large at t.yaml:1:1: "));
    CHECK_THAT(
        refusal_in_little_memory("- [" + repeat(unit, 299'990 / (unit == "[1,\n" || unit == "[]," ? 2 : 1))),
        StartsWith("too_") || StartsWith("bad_key") || StartsWith("syntax"));
  }
  const std::size_t deep = 299'999;
  CHECK_THAT(refusal_in_little_memory(repeat("[", deep) + repeat("]", deep)),
             StartsWith("too_deep at t.yaml:1:33: "));
}

TEST_CASE("F43 long keys above many values do not multiply") {
  std::string text;
  for (int depth = 0; depth < 30; ++depth) text += std::string(depth, ' ') + std::string(1000, 'k') + ":\n";
  for (int i = 0; i < 40'000; ++i) text += std::string(30, ' ') + "-\n";
  text.resize(yaml_limits::kBytes - 1);
  text += "\n";
  CHECK_THAT(refusal_in_little_memory(text), StartsWith("too_large at t.yaml:"));
  CHECK_THAT(refusal_in_little_memory("? " + std::string(1025, 'k') + "\n: 1\n"),
             StartsWith("bad_key at t.yaml:1:3: "));
}

TEST_CASE("V04 endless indicators of one kind are refused or read within the limits") {
  for (const char* piece :
       {"!x ", "&x ", "*x ", ",",  ":",  ": ",  "?\n", "#", "#\n", " ",   "\n", "---\n", "\"\"",
        "'",   "]",   "}",   "| ", "> ", "-\n", "@",   "`", "~ ",  "a: ", "{}", "[]",    "[],"}) {
    CAPTURE(piece);
    const std::string text = repeat(piece, 100'000);
    CHECK_FALSE(refusal_in_little_memory(text).empty());
  }
}

}  // namespace
}  // namespace mayfly

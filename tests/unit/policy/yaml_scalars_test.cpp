#include <catch2/catch.hpp>

#include "policy/yaml.hpp"
#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using test::faults_of;
using test::policy_text;

Json scalar(const std::string& written) {
  const auto document = parse_yaml("v: " + written + "\n", "t.yaml");
  INFO(written << " " << faults_of(document));
  REQUIRE(document);
  return document->value["v"];
}

TEST_CASE("F44 plain decimal numbers and true and false and null have their types") {
  CHECK(scalar("64") == 64);
  CHECK(scalar("0") == 0);
  CHECK(scalar("-5") == -5);
  CHECK(scalar("9223372036854775808") == 9223372036854775808ULL);
  CHECK(scalar("18446744073709551615") == 18446744073709551615ULL);
  CHECK(scalar("0.5") == 0.5);
  CHECK(scalar("64.0").is_number_float());
  CHECK(scalar("true") == true);
  CHECK(scalar("false") == false);
  CHECK(scalar("null").is_null());
  CHECK(scalar("~").is_null());
  CHECK(scalar("").is_null());
}

TEST_CASE("F44 V04 whatever only looks like a number or boolean stays text as written") {
  for (const char* written : {"0100",
                              "08",
                              "0x40",
                              "0o17",
                              "0b1",
                              "1_000",
                              "1e3",
                              "1E3",
                              "1.5e3",
                              "+5",
                              ".5",
                              "5.",
                              "-.5",
                              "-0",
                              "00",
                              "01.5",
                              ".nan",
                              ".inf",
                              "-.inf",
                              "nan",
                              "1,5",
                              "12:30",
                              "1:30:00",
                              "no",
                              "yes",
                              "on",
                              "off",
                              "n",
                              "y",
                              "No",
                              "NO",
                              "True",
                              "TRUE",
                              "False",
                              "2026-01-01",
                              "18446744073709551616",
                              "-9223372036854775809",
                              "--1",
                              "1-",
                              "0x",
                              "1 000"}) {
    CAPTURE(written);
    CHECK(scalar(written) == Json(written));
  }
}

TEST_CASE("F44 what stands in quotes is text") {
  CHECK(scalar("\"64\"") == "64");
  CHECK(scalar("'true'") == "true");
  CHECK(scalar("\"null\"") == "null");
  CHECK(scalar("''") == "");
  CHECK(scalar("|\n  64\n") == "64\n");
}

TEST_CASE("F44 a list of names keeps its words as they were written") {
  auto document = parse_yaml(
      "names: [no, 1.10, null, 12:30, 0100, true, ~, \"x\", 5]\nmap: {a: 1.10, b: yes}\n", "t.yaml");
  REQUIRE(document);
  keep_as_written(*document, "/names");
  keep_as_written(*document, "/map");
  keep_as_written(*document, "/absent/list");
  CHECK(document->value["names"] == Json({"no", "1.10", "null", "12:30", "0100", "true", "~", "x", "5"}));
  CHECK(document->value["map"] == Json({{"a", "1.10"}, {"b", "yes"}}));
}

TEST_CASE("F44 pids that are no plain decimal number are refused with the accepted form") {
  const std::string before = "  defaults:\n    limits:\n      pids: ";
  for (const char* written : {"0100", "08", "0x40", "1_000", "1e3", "\"64\"", "64.0", "+5", "~", ".nan",
                              ".inf", "1,5", "no", "true", "unlimited", "-1", "0", "-0", "64k"}) {
    CAPTURE(written);
    const auto policy = parse_policy(policy_text(before + written + "\n"), "p.yaml");
    REQUIRE_FALSE(policy);
    CHECK(policy.error().code == ErrorCode::invalid_argument);
    REQUIRE(policy.error().fields.size() == 1);
    CHECK(policy.error().fields[0].pointer == "p.yaml:6:13");
    CHECK_THAT(policy.error().fields[0].detail, Catch::StartsWith("spec.defaults.limits.pids: "));
  }
  CHECK(test::codes_of(parse_policy(policy_text(before + "[64]\n"), "p.yaml")).size() == 1);
  CHECK(parse_policy(policy_text(before + "64 \n"), "p.yaml")->default_limits.pids == 64);
  const auto octal = parse_policy(policy_text(before + "0100\n"), "p.yaml");
  CHECK_THAT(faults_of(octal), Catch::Contains("\"0100\"") && Catch::Contains("plain decimals"));
}

TEST_CASE("F44 cpus that are no number or negative are refused") {
  for (const char* written :
       {".nan", ".inf", "-.inf", "1,5", "nan", "inf", "1e3", "-1", "0", "0.0001", "0.001", "~", "yes"}) {
    CAPTURE(written);
    const auto policy =
        parse_policy(policy_text("  ceilings: {limits: {cpus: " + std::string(written) + "}}\n"), "p.yaml");
    CHECK(test::codes_of(policy).size() == 1);
  }
}

TEST_CASE("F44 booleans are true and false only") {
  for (const char* written : {"no", "off", "n", "0", "\"false\"", "False", "~"}) {
    CAPTURE(written);
    const auto policy = parse_policy(
        "execution_policy: {filesystem: {persistent: " + std::string(written) + "}}\n", "p.yaml");
    CHECK(test::codes_of(policy) == std::vector<std::string>{"wrong_type"});
  }
  CHECK(parse_policy("execution_policy: {filesystem: {persistent: false}}\n", "p.yaml"));
}

TEST_CASE("F44 a network that is no map is refused") {
  for (const char* written : {"no", "off", "n", "0", "\"false\"", "false", "deny"}) {
    CAPTURE(written);
    const auto policy = parse_policy("execution_policy: {network: " + std::string(written) + "}\n", "p.yaml");
    CHECK(test::codes_of(policy) == std::vector<std::string>{"wrong_type"});
  }
}

}  // namespace
}  // namespace mayfly

// The bare block of an operations team.
#include <catch2/catch.hpp>

#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::codes_of;
using test::faults_of;

using Codes = std::vector<std::string>;

Result<Policy> parse(const std::string& block) {
  return parse_policy("execution_policy:\n" + block, "ops.yaml");
}

TEST_CASE("the block sets default and ceiling at once and says what acts otherwise") {
  const auto policy = parse(
      "  default_runtime: isolate\n"
      "  container_required_for: [shell, native-binary, compiler]\n"
      "  limits: {cpu_seconds: 30, memory_mb: 512, max_processes: 16}\n"
      "  filesystem: {writable_paths: [/workspace], persistent: false}\n"
      "  network: {default: deny, allowed_hosts: []}\n");
  INFO(faults_of(policy));
  REQUIRE(policy);
  CHECK(policy->default_limits.cpu_time == 30s);
  CHECK(policy->max_limits.cpu_time == 30s);
  CHECK(policy->default_limits.memory == 512_MiB);
  CHECK(policy->max_limits.memory == 512_MiB);
  CHECK(policy->default_limits.pids == 16);
  CHECK(policy->max_limits.pids == 16);
  CHECK(to_string(policy->places.at("ceilings.limits.memory")) == "ops.yaml:4:40");
  CHECK(policy->name == "execution-policy");
  REQUIRE(policy->notes.size() == 3);
  CHECK_THAT(policy->notes[0],
             StartsWith("ops.yaml:2:20: execution_policy.default_runtime: ") && Contains("docker"));
  CHECK_THAT(policy->notes[2], Contains("/tmp"));
}

TEST_CASE("what the block does not say is as built in") {
  const auto policy = parse("  limits: {memory_mb: 256}\n");
  REQUIRE(policy);
  CHECK(policy->max_limits.pids == builtin_policy().max_limits.pids);
  CHECK(policy->max_timeouts == builtin_policy().max_timeouts);
  CHECK(policy->notes.empty());
}

TEST_CASE("a persistent file system and allowed hosts are refused with the reason") {
  const auto policy =
      parse("  filesystem: {persistent: true}\n  network: {allowed_hosts: [api.example.com]}\n");
  CHECK(codes_of(policy) == Codes{"unsupported", "unsupported"});
  CHECK_THAT(faults_of(policy),
             Contains("ops.yaml:2:28: execution_policy.filesystem.persistent: ") && Contains("sessions"));
  CHECK_THAT(faults_of(policy),
             Contains("execution_policy.network.allowed_hosts: ") && Contains("egress proxy"));
}

TEST_CASE("F44 any network but deny is refused") {
  for (const char* access : {"allow", "\"no\"", "no", "off", "n", "0", "\"false\"", "~", "DENY"}) {
    CAPTURE(access);
    CHECK(codes_of(parse("  network: {default: " + std::string(access) + "}\n")).size() == 1);
  }
}

TEST_CASE("paths other than the workspace and tmp cannot be made writable") {
  CHECK(parse("  filesystem: {writable_paths: [/workspace, /tmp]}\n")->notes.empty());
  for (const char* path :
       {"/", "/etc", "/workspace/../etc", "/workspace/", "workspace", "/workspace/out", "no"}) {
    CAPTURE(path);
    CHECK(codes_of(parse("  filesystem: {writable_paths: [" + std::string(path) + "]}\n")) ==
          Codes{"forbidden_path"});
  }
}

TEST_CASE("an unknown runtime is refused and docker is none to speak of") {
  CHECK(codes_of(parse("  default_runtime: microvm\n")) == Codes{"bad_format"});
  CHECK(parse("  default_runtime: docker\n")->notes.empty());
}

TEST_CASE("F26 Y04 block limits too small or too large are refused by their own names") {
  CHECK_THAT(faults_of(parse("  limits: {memory_mb: 1}\n")),
             Contains("execution_policy.limits.memory_mb: 1Mi is less than 6Mi"));
  for (const char* limit :
       {"memory_mb: 0", "memory_mb: -1", "memory_mb: 9223372036854775808", "memory_mb: unlimited",
        "memory_mb: 512Mi", "max_processes: 0", "max_processes: -1", "max_processes: 4097", "cpu_seconds: 0",
        "cpu_seconds: 30s", "cpu_seconds: 0x1e", "memory_gb: 1"}) {
    CAPTURE(limit);
    CHECK(codes_of(parse("  limits: {" + std::string(limit) + "}\n")).size() == 1);
  }
}

TEST_CASE("a file is either a policy or a bare block") {
  const auto policy = parse_policy("execution_policy: {}\nkind: Policy\n", "ops.yaml");
  CHECK_THAT(faults_of(policy), StartsWith("forbidden_kind at ops.yaml:2:7: kind: "));
  CHECK(codes_of(parse_policy("execution_policy: {}\nextra: 1\n", "ops.yaml")) == Codes{"unknown_field"});
  CHECK(codes_of(parse_policy("execution_policy: ~\n", "ops.yaml")).size() == 1);
}

}  // namespace
}  // namespace mayfly

#include "policy/policy.hpp"

#include <catch2/catch.hpp>

#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::codes_of;
using test::faults_of;
using test::policy_text;

using Codes = std::vector<std::string>;

Result<Policy> parse(const std::string& spec) {
  return parse_policy(policy_text(spec), "p.yaml");
}

Policy accepted(const std::string& spec) {
  auto policy = parse(spec);
  INFO(spec << faults_of(policy));
  REQUIRE(policy);
  return *policy;
}

TEST_CASE("every field of a policy is read in its unit") {
  const Policy policy = accepted(
      "  defaults:\n"
      "    limits: {cpus: 500m, memory: 256Mi, workspace: 2Mi, tmp: 8Mi, shm: 65536, log: 1M, pids: 32, "
      "open_files: 64,\n"
      "             cpu_time: 30s}\n"
      "    timeouts: {queue: 1h, prepare: 1m, start: 5s, run: 1h30m, idle: 20s, stop: 0s, total: 3h}\n"
      "  ceilings:\n"
      "    limits: {cpus: 2.5, memory: \"1Gi\", workspace: 4Mi, tmp: 9Mi, shm: 1Mi, log: 2M, pids: 64, "
      "open_files: 128,\n"
      "             cpu_time: 1m}\n"
      "    timeouts: {queue: 2h, prepare: 2m, start: 6s, run: 2h, idle: 30s, stop: 9s, total: 4h}\n"
      "  artifacts: {bytes: 5Mi, files: 7}\n"
      "  workspace: {tmpfs_max: 3Mi}\n"
      "  runner: {lease: 15m}\n"
      "  accept_warnings: [no, 1.10, \"no swap limit support\"]\n"
      "  retention: {tasks: 2d, log_bytes: 3Gi, idempotency_keys: 1h}\n"
      "  capacity: {sandboxes: 3, cpus: 7, memory: 8Gi, queued_tasks: 9}\n"
      "  disk: {reserve: 10Mi}\n");
  CHECK(policy.default_limits == Limits{500, 256_MiB, 2_MiB, 8_MiB, 64_KiB, Bytes{1'000'000}, 32, 64, 30s});
  CHECK(policy.max_limits == Limits{2500, 1_GiB, 4_MiB, 9_MiB, 1_MiB, Bytes{2'000'000}, 64, 128, 1min});
  CHECK(policy.default_timeouts == Timeouts{1h, 1min, 5s, 90min, 20s, 0s, 3h});
  CHECK(policy.max_timeouts == Timeouts{2h, 2min, 6s, 2h, 30s, 9s, 4h});
  CHECK(policy.artifact_bytes == 5_MiB);
  CHECK(policy.artifact_files == 7);
  CHECK(policy.workspace_tmpfs_max == 3_MiB);
  CHECK(policy.runner_lease == 15min);
  CHECK(policy.accept_warnings == Codes{"no", "1.10", "no swap limit support"});
  CHECK(policy.retention.task_age == 48h);
  CHECK(policy.retention.log_bytes == 3_GiB);
  CHECK(policy.retention.idempotency_age == 1h);
  CHECK(policy.capacity.sandboxes == 3);
  CHECK(policy.capacity.millicpus == 7000);
  CHECK(policy.capacity.memory == 8_GiB);
  CHECK(policy.capacity.queued_tasks == 9);
  CHECK(policy.disk_reserve == 10_MiB);
}

TEST_CASE("the place of every value that the file sets is kept and no other") {
  const Policy policy = accepted("  defaults:\n    limits:\n      memory: 256Mi\n  capacity: {cpus: 2}\n");
  CHECK(to_string(policy.places.at("defaults.limits.memory")) == "p.yaml:6:15");
  CHECK(to_string(policy.places.at("capacity.cpus")) == "p.yaml:7:20");
  CHECK(policy.places.size() == 2);
}

TEST_CASE("the version follows from what decides and not from how it is written") {
  const Policy built_in = builtin_policy();
  CHECK_THAT(built_in.version, StartsWith("sha256:"));
  CHECK(built_in.version.size() == 7 + 64);
  CHECK(accepted("  {}\n").version == built_in.version);
  CHECK(accepted("  defaults: {limits: {memory: 536870912}}   # as built in\n").version == built_in.version);
  CHECK(accepted("  defaults: {limits: {memory: 256Mi}}\n").version != built_in.version);
  CHECK(accepted("  accept_warnings: [x]\n").version != built_in.version);
  CHECK(accepted("  disk: {reserve: 1Gi}\n").version != built_in.version);
  CHECK(accepted("  ceilings: {timeouts: {run: 23h}}\n").version != built_in.version);
}

TEST_CASE("Y02 a misspelled key is refused with its place and what was probably meant") {
  const auto policy = parse("  defaults:\n    limits:\n      memmory: 1Gi\n");
  CHECK(codes_of(policy) == Codes{"unknown_field"});
  CHECK_THAT(faults_of(policy),
             Contains("at p.yaml:6:16: spec.defaults.limits.memmory: ") && Contains("\"memory\""));
  CHECK_THAT(faults_of(parse("  defualts: {}\n")), Contains("\"defaults\""));
  CHECK_THAT(faults_of(parse_policy("execution_polcy: {}\n", "p.yaml")), Contains("\"execution_policy\""));
}

TEST_CASE("Y02 all faults of a file are named at once and the message names the first") {
  const auto policy =
      parse("  defaults: {limits: {memory: 512MB, pids: many, gpu: 1}}\n  disk: 5\n  extra: 1\n");
  CHECK(codes_of(policy).size() == 5);
  CHECK_THAT(policy.error().message,
             StartsWith("the policy file p.yaml has 5 faults") && Contains("p.yaml:4:"));
}

TEST_CASE("Y02 wrong types and units are refused by field") {
  for (const char* spec :
       {"  defaults: []\n", "  defaults: {limits: 5}\n", "  defaults: {limits: {memory: 512MB}}\n",
        "  defaults: {limits: {memory: 1.5}}\n", "  defaults: {limits: {memory: 512 Mi}}\n",
        "  defaults: {timeouts: {run: 600}}\n", "  defaults: {timeouts: {run: 10min}}\n",
        "  artifacts: {files: \"10\"}\n", "  accept_warnings: text\n", "  accept_warnings: [[x]]\n",
        "  accept_warnings: ['']\n", "  runner: {lease: 5}\n", "  retention: ~\n"}) {
    CAPTURE(spec);
    const auto policy = parse(spec);
    REQUIRE(codes_of(policy).size() == 1);
    CHECK_THAT(policy.error().fields[0].pointer, StartsWith("p.yaml:4:"));
    CHECK_THAT(policy.error().fields[0].detail, StartsWith("spec."));
  }
}

TEST_CASE("Y02 a file of another version or kind or of nothing is refused") {
  CHECK(codes_of(parse_policy("apiVersion: mayfly.dev/v2\nkind: Policy\nspec: {}\n", "p")) ==
        Codes{"bad_format"});
  CHECK(codes_of(parse_policy("apiVersion: mayfly.dev/v1\nkind: Pod\nspec: {}\n", "p")) ==
        Codes{"bad_format"});
  CHECK(codes_of(parse_policy("kind: Policy\nspec: {}\n", "p")) == Codes{"required"});
  CHECK(codes_of(parse_policy("apiVersion: mayfly.dev/v1\nkind: Policy\n", "p")) == Codes{"required"});
  CHECK(codes_of(parse_policy("", "p")) == Codes{"required"});
  CHECK(codes_of(parse_policy("[]\n", "p")) == Codes{"wrong_type"});
  CHECK(codes_of(parse_policy("text\n", "p")) == Codes{"wrong_type"});
}

TEST_CASE("a policy has a plain name") {
  const std::string rest = "apiVersion: mayfly.dev/v1\nkind: Policy\nspec: {}\nmetadata: ";
  CHECK(parse_policy(rest + "{name: team-a.gpu}\n", "p")->name == "team-a.gpu");
  for (const char* bad :
       {"{name: ''}\n", "{name: Team}\n", "{name: -a}\n", "{name: a b}\n", "{}\n", "{name: a, label: b}\n"}) {
    CAPTURE(bad);
    CHECK(codes_of(parse_policy(rest + bad, "p")).size() == 1);
  }
}

TEST_CASE("F26 a memory too small for any engine is refused at load and the field is named") {
  for (const char* layer : {"defaults", "ceilings"}) {
    const auto policy = parse(std::string("  ") + layer + ": {limits: {memory: 1M}}\n");
    CHECK(codes_of(policy) == Codes{"out_of_range"});
    CHECK_THAT(faults_of(policy),
               Contains("spec." + std::string(layer) + ".limits.memory: 1M is less than 6Mi") &&
                   Contains("no container engine takes less"));
  }
  CHECK(accepted("  defaults: {limits: {memory: 6Mi}}\n").default_limits.memory == 6_MiB);
  CHECK_THAT(faults_of(parse("  defaults: {limits: {memory: 6291455}}\n")), Contains("less than 6Mi"));
}

TEST_CASE("F26 swap cannot be given by a policy") {
  CHECK(codes_of(parse("  defaults: {limits: {memory: 64Mi, swap: 32Mi}}\n")) == Codes{"unknown_field"});
}

TEST_CASE("Y04 memory and pids without a limit or beyond all sizes are refused") {
  for (const char* value : {"memory: 0",
                            "memory: -1",
                            "memory: 9223372036854775808",
                            "memory: unlimited",
                            "memory: 32Ti",
                            "memory: 18446744073709551616",
                            "memory: ~",
                            "pids: 0",
                            "pids: -1",
                            "pids: 4097",
                            "pids: unlimited",
                            "shm: 0",
                            "shm: -1",
                            "tmp: 3Mi",
                            "workspace: 512Ki",
                            "log: 0",
                            "open_files: 3",
                            "cpus: 0",
                            "cpus: 0.009",
                            "cpu_time: -1s"}) {
    for (const char* layer : {"defaults", "ceilings"}) {
      CAPTURE(layer, value);
      const auto policy = parse(std::string("  ") + layer + ": {limits: {" + value + "}}\n");
      CHECK(codes_of(policy).size() == 1);
    }
  }
}

TEST_CASE("timeouts of nothing are refused but for idle and stop") {
  for (const char* phase : {"queue", "prepare", "start", "run", "total"}) {
    CAPTURE(phase);
    CHECK(codes_of(parse("  defaults: {timeouts: {" + std::string(phase) + ": 0s}}\n")) ==
          Codes{"out_of_range"});
  }
  CHECK(accepted("  defaults: {timeouts: {idle: 0s, stop: 0s}}\n").default_timeouts.stop == 0s);
}

TEST_CASE("a default over its own ceiling is refused and names the line of the ceiling") {
  const auto policy = parse("  defaults: {limits: {memory: 2Gi}}\n  ceilings: {limits: {memory: 1Gi}}\n");
  CHECK(codes_of(policy) == Codes{"over_ceiling"});
  CHECK_THAT(faults_of(policy), Contains("at p.yaml:4:31: spec.defaults.limits.memory: ") &&
                                    Contains("2Gi") && Contains("ceilings.limits.memory (p.yaml:5:31)") &&
                                    Contains("1Gi"));
  CHECK_THAT(faults_of(parse("  defaults: {limits: {memory: 1Ti}}\n")), Contains("(built in)"));
  CHECK_THAT(
      faults_of(parse("  defaults: {limits: {cpu_time: 0s}}\n  ceilings: {limits: {cpu_time: 30s}}\n")),
      Contains("0 (no limit)"));
}

TEST_CASE("a default that the file does not set gives way to what it does set") {
  const Policy small = accepted(
      "  ceilings: {limits: {memory: 8Mi, cpu_time: 30s, pids: 16}, timeouts: {total: 1h, idle: 10s}}\n"
      "  workspace: {tmpfs_max: 64Mi}\n");
  CHECK(small.default_limits.memory == 8_MiB);
  CHECK(small.default_limits.shm == 8_MiB);
  CHECK(small.default_limits.workspace == 64_MiB);
  CHECK(small.default_limits.cpu_time == 30s);
  CHECK(small.default_limits.pids == 16);
  CHECK(small.default_timeouts.total == 1h);
  CHECK(small.default_timeouts.queue == 1h);
  CHECK(small.default_timeouts.idle == 10s);
  CHECK(small.default_timeouts.run == 10min);
}

TEST_CASE("F28 a default of shared memory above the memory is refused") {
  const auto policy = parse("  defaults: {limits: {memory: 512Mi, shm: 600Mi}}\n");
  CHECK(codes_of(policy) == Codes{"over_ceiling"});
  CHECK_THAT(faults_of(policy),
             Contains("spec.defaults.limits.shm: ") && Contains("defaults.limits.memory (p.yaml:4:"));
}

TEST_CASE("a default phase longer than the whole is refused") {
  const auto policy = parse("  defaults: {timeouts: {run: 3h, total: 2h}}\n");
  CHECK(codes_of(policy) == Codes{"over_ceiling"});
  CHECK_THAT(faults_of(policy), Contains("spec.defaults.timeouts.run: "));
}

TEST_CASE("a default workspace larger than a tmpfs may be is refused") {
  CHECK(codes_of(parse("  defaults: {limits: {workspace: 65Mi}}\n  workspace: {tmpfs_max: 64Mi}\n")) ==
        Codes{"over_ceiling"});
}

TEST_CASE("a capacity in which no task of defaults fits is refused") {
  CHECK_THAT(faults_of(parse("  capacity: {memory: 700Mi}\n")),
             Contains("spec.capacity.memory: 700Mi is less than the 728Mi"));
  CHECK(parse("  capacity: {memory: 728Mi}\n"));
  CHECK_THAT(faults_of(parse("  capacity: {cpus: 0.5}\n")),
             Contains("spec.capacity.cpus: 0.5 is less than the 1"));
}

TEST_CASE("V04 Y02 what the YAML reader refuses comes with file and line and column") {
  const auto policy = parse("  defaults:\n    limits:\n      memory: 1Gi\n      memory: 2Gi\n");
  CHECK(policy.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(faults_of(policy),
             StartsWith("duplicate_key at p.yaml:7:7: ") && Contains("spec.defaults.limits"));
}

}  // namespace
}  // namespace mayfly

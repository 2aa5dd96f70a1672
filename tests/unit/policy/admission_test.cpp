#include <catch2/catch.hpp>

#include "policy_fixture.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::codes_of;
using test::faults_of;

using Codes = std::vector<std::string>;

TaskSpec task() {
  TaskSpec spec;
  spec.image = "busybox";
  spec.command = {"true"};
  return spec;
}

Admission admitted(const TaskSpec& spec, const Policy& policy = builtin_policy()) {
  auto admission = admit(spec, policy);
  INFO(faults_of(admission));
  REQUIRE(admission);
  return *admission;
}

TEST_CASE("admit fills what a task does not ask for from the defaults") {
  const Policy policy = builtin_policy();
  const Admission admission = admitted(task());
  CHECK(admission.limits == policy.default_limits);
  CHECK(admission.timeouts == policy.default_timeouts);
  CHECK(admission.policy_version == policy.version);
}

TEST_CASE("admit keeps what a task asks for up to the ceiling itself") {
  const Policy policy = builtin_policy();
  TaskSpec spec = task();
  const Limits& most = policy.max_limits;
  spec.limits = {most.millicpus, most.memory, most.workspace,  most.tmp, most.shm,
                 most.log_bytes, most.pids,   most.open_files, 30s};
  spec.timeouts = {1h, 1min, 5s, 24h, 1min, 0s, policy.max_timeouts.total};
  const Admission admission = admitted(spec);
  CHECK(admission.limits == Limits{most.millicpus, most.memory, most.workspace, most.tmp, most.shm,
                                   most.log_bytes, most.pids, most.open_files, 30s});
  CHECK(admission.timeouts == Timeouts{1h, 1min, 5s, 24h, 1min, 0s, policy.max_timeouts.total});
}

TEST_CASE("granted is the sum of all that the sandbox's memory holds and the runner's share") {
  TaskSpec spec = task();
  spec.limits.memory = 100_MiB;
  spec.limits.workspace = 20_MiB;
  spec.limits.tmp = 10_MiB;
  spec.limits.shm = 5_MiB;
  spec.limits.pids = 50;
  spec.limits.millicpus = 1500;
  CHECK(admitted(spec).granted == Granted{1500, 143_MiB, 54});
}

TEST_CASE("admit denies every field over its ceiling with value and ceiling and the line that set it") {
  const auto policy = parse_policy(
      "apiVersion: mayfly.dev/v1\nkind: Policy\nspec:\n  ceilings:\n    limits:\n      memory: 1Gi\n",
      "ops.yaml");
  REQUIRE(policy);
  TaskSpec spec = task();
  spec.limits.memory = 2_GiB;
  spec.limits.pids = 4000;
  spec.timeouts.run = 25h;
  const auto admission = admit(spec, *policy);
  REQUIRE_FALSE(admission);
  CHECK(admission.error().code == ErrorCode::policy_denied);
  CHECK(codes_of(admission) == Codes{"over_ceiling", "over_ceiling", "over_ceiling"});
  CHECK_THAT(faults_of(admission), Contains("over_ceiling at /limits/memory: 2Gi is over the ceiling of 1Gi "
                                            "(ceilings.limits.memory, set at ops.yaml:6:15)"));
  CHECK_THAT(
      faults_of(admission),
      Contains(
          "over_ceiling at /limits/pids: 4000 is over the ceiling of 1024 (ceilings.limits.pids, built in)"));
  CHECK_THAT(faults_of(admission), Contains("over_ceiling at /timeouts/run: 25h is over the ceiling of 1d"));
  CHECK_THAT(admission.error().message, Contains("3 faults") && Contains("/limits/memory"));
}

TEST_CASE("each limit and each timeout has its own ceiling") {
  const std::vector<std::pair<std::string, void (*)(TaskSpec&)>> over = {
      {"/limits/cpus", [](TaskSpec& s) { s.limits.millicpus = 4001; }},
      {"/limits/memory", [](TaskSpec& s) { s.limits.memory = 4_GiB + Bytes{1}; }},
      {"/limits/tmp", [](TaskSpec& s) { s.limits.tmp = 1_GiB + Bytes{1}; }},
      {"/limits/log", [](TaskSpec& s) { s.limits.log_bytes = 4_GiB + Bytes{1}; }},
      {"/limits/pids", [](TaskSpec& s) { s.limits.pids = 1025; }},
      {"/limits/open_files", [](TaskSpec& s) { s.limits.open_files = 65'537; }},
      {"/timeouts/queue", [](TaskSpec& s) { s.timeouts.total = 24h * 9, s.timeouts.queue = 24h * 7 + 1ms; }},
      {"/timeouts/prepare", [](TaskSpec& s) { s.timeouts.prepare = 61min; }},
      {"/timeouts/start", [](TaskSpec& s) { s.timeouts.start = 11min; }},
      {"/timeouts/run", [](TaskSpec& s) { s.timeouts.run = 24h + 1ms; }},
      {"/timeouts/stop", [](TaskSpec& s) { s.timeouts.stop = 6min; }},
      {"/timeouts/total", [](TaskSpec& s) { s.timeouts.total = 24h * 10; }},
  };
  for (const auto& [pointer, change] : over) {
    CAPTURE(pointer);
    TaskSpec spec = task();
    change(spec);
    const auto admission = admit(spec, builtin_policy());
    REQUIRE(codes_of(admission) == Codes{"over_ceiling"});
    CHECK(admission.error().code == ErrorCode::policy_denied);
    CHECK(admission.error().fields[0].pointer == pointer);
  }
}

TEST_CASE("no limit is over every ceiling but that of no limit") {
  Policy policy = builtin_policy();
  TaskSpec spec = task();
  spec.limits.cpu_time = 0s;
  spec.timeouts.idle = 0s;
  CHECK(admit(spec, policy));
  policy.max_limits.cpu_time = 30s;
  policy.default_limits.cpu_time = 10s;
  policy.max_timeouts.idle = 20s;
  policy.default_timeouts.idle = 20s;
  const auto admission = admit(spec, policy);
  CHECK(codes_of(admission) == Codes{"over_ceiling", "over_ceiling"});
  CHECK_THAT(faults_of(admission), Contains("/limits/cpu_time: 0 (no limit) is over the ceiling of 30s"));
  CHECK(admitted(task(), policy).limits.cpu_time == 10s);
}

TEST_CASE("Y04 values too small to work are refused with the reason although no ceiling is passed") {
  const std::vector<std::pair<std::string, void (*)(TaskSpec&)>> small = {
      {"/limits/cpus", [](TaskSpec& s) { s.limits.millicpus = 9; }},
      {"/limits/cpus", [](TaskSpec& s) { s.limits.millicpus = -1000; }},
      {"/limits/memory",
       [](TaskSpec& s) { s.limits.memory = 6_MiB, s.limits.memory->count -= 1, s.limits.shm = 1_MiB; }},
      {"/limits/workspace", [](TaskSpec& s) { s.limits.workspace = 1023_KiB; }},
      {"/limits/tmp", [](TaskSpec& s) { s.limits.tmp = 4095_KiB; }},
      {"/limits/shm", [](TaskSpec& s) { s.limits.shm = Bytes{0}; }},
      {"/limits/log", [](TaskSpec& s) { s.limits.log_bytes = Bytes{0}; }},
      {"/limits/pids", [](TaskSpec& s) { s.limits.pids = 0; }},
      {"/limits/open_files", [](TaskSpec& s) { s.limits.open_files = 3; }},
      {"/timeouts/run", [](TaskSpec& s) { s.timeouts.run = 0s; }},
      {"/timeouts/start", [](TaskSpec& s) { s.timeouts.start = 0s; }},
  };
  for (const auto& [pointer, change] : small) {
    CAPTURE(pointer);
    TaskSpec spec = task();
    change(spec);
    const auto admission = admit(spec, builtin_policy());
    INFO(faults_of(admission));
    REQUIRE(codes_of(admission) == Codes{"out_of_range"});
    CHECK(admission.error().code == ErrorCode::unprocessable);
    CHECK(admission.error().fields[0].pointer == pointer);
    CHECK_THAT(admission.error().fields[0].detail, Contains(": "));
  }
}

TEST_CASE("F26 a task's memory under the engine's least is refused at submit with the reason") {
  TaskSpec spec = task();
  spec.limits.memory = Bytes{1'000'000};
  CHECK_THAT(faults_of(admit(spec, builtin_policy())),
             Contains("/limits/memory: 1M is less than 6Mi: no container engine"));
}

TEST_CASE("F28 shared memory above the memory is refused and a default of it gives way") {
  TaskSpec spec = task();
  spec.limits.shm = 1_GiB;
  CHECK_THAT(faults_of(admit(spec, builtin_policy())),
             Contains("out_of_range at /limits/shm: 1Gi") &&
                 Contains("512Mi (the policy's default); ask for more memory"));
  spec.limits.memory = 1_GiB;
  CHECK(admitted(spec).limits.shm == 1_GiB);
  TaskSpec tiny = task();
  tiny.limits.memory = 8_MiB;
  CHECK(admitted(tiny).limits.shm == 8_MiB);
}

TEST_CASE("pids default to at most 128 per cpu and are kept when asked for") {
  const std::vector<std::pair<std::int64_t, std::uint64_t>> expected = {
      {4000, 128}, {1000, 128}, {500, 64}, {250, 32}, {100, 12}, {50, 8}, {10, 8}};
  for (const auto& [millicpus, pids] : expected) {
    CAPTURE(millicpus);
    TaskSpec spec = task();
    spec.limits.millicpus = millicpus;
    CHECK(admitted(spec).limits.pids == pids);
    spec.limits.pids = 200;
    CHECK(admitted(spec).limits.pids == 200);
  }
}

TEST_CASE("a workspace over the largest tmpfs is refused since the storage holds no larger limit") {
  Policy policy = builtin_policy();
  policy.max_limits.workspace = 10_GiB;
  TaskSpec spec = task();
  spec.limits.workspace = 2_GiB;
  const auto admission = admit(spec, policy);
  CHECK(admission.error().code == ErrorCode::policy_denied);
  CHECK_THAT(faults_of(admission), Contains("over_ceiling at /limits/workspace: 2Gi is more than the 1Gi") &&
                                       Contains("storage cannot hold a size limit"));
}

TEST_CASE("a workspace over both its bounds is told once for each") {
  TaskSpec spec = task();
  spec.limits.workspace = 2_GiB;
  CHECK(codes_of(admit(spec, builtin_policy())) == Codes{"over_ceiling", "over_ceiling"});
}

TEST_CASE("no phase may be longer than the whole and default phases give way to it") {
  TaskSpec spec = task();
  spec.timeouts.total = 5min;
  const Admission admission = admitted(spec);
  CHECK(admission.timeouts.run == 5min);
  CHECK(admission.timeouts.queue == 5min);
  CHECK(admission.timeouts.idle == 0s);
  CHECK(admission.timeouts.start == 60s);
  spec.timeouts.run = 6min;
  CHECK_THAT(faults_of(admit(spec, builtin_policy())),
             Contains("out_of_range at /timeouts/run: 6m is longer than timeouts.total"));
  Policy policy = builtin_policy();
  policy.default_timeouts.total = 1h;
  TaskSpec longer = task();
  longer.timeouts.run = 2h;
  CHECK_THAT(faults_of(admit(longer, policy)), Contains("the policy's default; ask for more of it too"));
}

TEST_CASE("a task that could never fit the capacity is refused and not queued for ever") {
  Policy policy = builtin_policy();
  policy.capacity.memory = 1_GiB;
  policy.capacity.millicpus = 2000;
  TaskSpec spec = task();
  spec.limits.memory = 900_MiB;
  spec.limits.millicpus = 3000;
  const auto admission = admit(spec, policy);
  CHECK(admission.error().code == ErrorCode::policy_denied);
  CHECK_THAT(faults_of(admission),
             Contains("/limits/memory: ") && Contains("1116Mi") && Contains("capacity.memory"));
  CHECK_THAT(faults_of(admission), Contains("/limits/cpus: 3 is more") && Contains("capacity.cpus"));
}

}  // namespace
}  // namespace mayfly

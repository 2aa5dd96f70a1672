#include "task/task_record.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace mayfly;

namespace {

// Values at random from a fixed seed, so that a failure comes again.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::uint64_t up_to(std::uint64_t most) { return engine_() % (most + 1); }
  bool coin() { return up_to(1) == 1; }
  std::string bytes(std::size_t most) {
    std::string text(up_to(most), '\0');
    for (auto& c : text) c = static_cast<char>(coin() ? up_to(255) : 'a' + up_to(25));
    return text;
  }
  std::string word() { return "w" + std::to_string(up_to(999'999)); }
  template <class T>
  std::optional<T> maybe(T value) {
    return coin() ? std::optional<T>(value) : std::nullopt;
  }
  Millis millis() { return Millis(1 + up_to(86'400'000)); }
  Bytes size() { return 4_MiB + Bytes{up_to(1U << 30U)}; }

 private:
  std::mt19937_64 engine_;
};

TaskSpec make_spec(Dice& dice) {
  TaskSpec spec{.name = dice.coin() ? dice.word() : "", .image = "img:" + dice.word()};
  if (dice.coin()) {
    spec.command = {"sh", "-c", "日本 " + dice.word(), ""};
  } else {
    spec.script = "s" + dice.bytes(40);
    std::replace(spec.script.begin(), spec.script.end(), '\0', ' ');
  }
  for (auto n = dice.up_to(3); n > 0; --n) spec.env[dice.word()] = dice.word() + "=\n";
  if (dice.coin()) spec.working_dir = "/tmp/" + dice.word();
  spec.stdin_data = dice.bytes(30);
  for (auto n = dice.up_to(3); n > 0; --n) {
    spec.inputs.push_back({"d" + std::to_string(n) + "/" + dice.word(), dice.bytes(60),
                           static_cast<std::uint32_t>(dice.up_to(0777))});
  }
  if (dice.coin()) spec.outputs = {dice.word() + "/**", "*.txt"};
  spec.limits = {.millicpus = dice.maybe<std::int64_t>(static_cast<std::int64_t>(10 + dice.up_to(9999))),
                 .memory = dice.maybe(dice.size()),
                 .log_bytes = dice.maybe(dice.size()),
                 .pids = dice.maybe<std::uint64_t>(1 + dice.up_to(999)),
                 .cpu_time = dice.maybe(dice.millis())};
  spec.timeouts = {.queue = dice.maybe(dice.millis()),
                   .run = dice.maybe(dice.millis()),
                   .total = dice.maybe(dice.millis())};
  if (dice.coin()) spec.labels = {{"team", dice.word()}, {"example.com/x", ""}};
  spec.priority = static_cast<std::int32_t>(dice.up_to(2000)) - 1000;
  if (dice.coin()) spec.on_log_limit = OnLogLimit::truncate;
  return spec;
}

TaskRecord make_record(Dice& dice) {
  TaskRecord task;
  task.id = make_id<TaskId>();
  task.tenant = TenantId(dice.word());
  task.spec = make_spec(dice);
  task.limits = {.millicpus = static_cast<std::int64_t>(dice.up_to(99'999)),
                 .memory = dice.size(),
                 .cpu_time = dice.millis()};
  task.timeouts = {.run = dice.millis(), .stop = Millis(0)};
  task.granted = grant(task.limits);
  task.policy_version = dice.coin() ? "sha256:" + dice.word() : "";
  task.state = static_cast<TaskState>(dice.up_to(static_cast<std::uint64_t>(TaskState::lost)));
  task.reason = static_cast<Reason>(dice.up_to(static_cast<std::uint64_t>(Reason::dependency_failed)));
  task.exit_code = dice.maybe(static_cast<int>(dice.up_to(255)));
  task.signal = dice.maybe(static_cast<int>(dice.up_to(64)));
  task.message = dice.bytes(50);
  task.desired = static_cast<Desired>(dice.up_to(2));
  task.desired_reason =
      static_cast<Reason>(dice.up_to(static_cast<std::uint64_t>(Reason::dependency_failed)));
  for (std::uint64_t hit = 0; hit < 4; ++hit) {
    if (dice.coin()) task.limits_hit.push_back(static_cast<LimitHit>(hit));
  }
  task.pending_reason = dice.bytes(20);
  task.attempts = static_cast<std::uint32_t>(dice.up_to(0xffffffff));
  task.image_digest = dice.bytes(20);
  task.times.submitted = dice.maybe(WallTime(dice.millis()));
  task.times.bound = dice.maybe(WallTime(-dice.millis()));
  task.times.destroyed = dice.maybe(WallTime(dice.millis()));
  task.usage = {
      .cpu_ms = dice.up_to(~0ULL >> 1U), .memory_bytes = 1, .pids_peak = dice.up_to(99), .stalled_ms = 5};
  task.cleanup_pending = dice.coin();
  task.revision = dice.up_to(~0ULL >> 1U);
  return task;
}

// A member-wise comparison that names what differs.
void check_same(const TaskRecord& a, const TaskRecord& b) {
  CHECK(a.id == b.id);
  CHECK(a.tenant == b.tenant);
  CHECK(a.spec == b.spec);
  CHECK(a.limits == b.limits);
  CHECK(a.timeouts == b.timeouts);
  CHECK(a.granted == b.granted);
  CHECK(a.policy_version == b.policy_version);
  CHECK(a.state == b.state);
  CHECK(a.reason == b.reason);
  CHECK(a.exit_code == b.exit_code);
  CHECK(a.signal == b.signal);
  CHECK(a.message == b.message);
  CHECK(a.desired == b.desired);
  CHECK(a.desired_reason == b.desired_reason);
  CHECK(a.limits_hit == b.limits_hit);
  CHECK(a.pending_reason == b.pending_reason);
  CHECK(a.attempts == b.attempts);
  CHECK(a.image_digest == b.image_digest);
  CHECK(a.times == b.times);
  CHECK(a.usage == b.usage);
  CHECK(a.cleanup_pending == b.cleanup_pending);
  CHECK(a.revision == b.revision);
}

TaskRecord ended_task() {
  TaskRecord task;
  task.id = TaskId("tsk_1");
  task.tenant = TenantId("default");
  task.spec = {.name = "n",
               .image = "busybox",
               .command = {"sh", "-c", "cat"},
               .env = {{"TOKEN", "env-secret"}},
               .stdin_data = "stdin-secret",
               .inputs = {{"a", "input-secret", 0644}},
               .labels = {{"team", "a"}}};
  task.state = TaskState::failed;
  task.reason = Reason::exit_nonzero;
  task.exit_code = 3;
  task.message = "the process ended with exit code 3";
  task.times = {.submitted = WallTime(Millis(1'700'000'000'000)),
                .scheduled = WallTime(Millis(1'700'000'000'250)),
                .prepared = WallTime(Millis(1'700'000'000'300)),
                .bound = WallTime(Millis(1'700'000'001'000)),
                .ended = WallTime(Millis(1'700'000'000'999))};
  task.limits_hit = {LimitHit::pids};
  return task;
}

}  // namespace

TEST_CASE("a stored task gives back every member also through text and with bytes that are no text") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const auto task = make_record(dice);
    const auto json = parse_json(dump_json(to_stored_json(task)));
    REQUIRE(json);
    const auto again = task_from_stored_json(*json);
    if (!again) FAIL(again.error().message);
    check_same(*again, task);
  }
}

TEST_CASE("a spec of any bytes comes back from its JSON") {
  for (unsigned seed = 1000; seed < 1300; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const auto spec = make_spec(dice);
    const auto again = parse_task_spec(parse_json(canonical_text(spec)).value());
    if (!again) FAIL(again.error().message);
    CHECK(*again == spec);
  }
}

TEST_CASE("a stored task with any member missing or of another type is corrupt and never half read") {
  Dice dice(7);
  auto task = make_record(dice);
  task.message = "text";
  const auto json = to_stored_json(task);
  for (const auto& [name, value] : json.items()) {
    INFO(name);
    auto changed = json;
    changed[name] = Json::array({Json::array()});
    const auto read = task_from_stored_json(changed);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::corrupt);
  }
  for (const std::string name :
       {"version", "id", "spec", "limits", "state", "desired", "usage", "times", "revision"}) {
    INFO(name);
    auto changed = json;
    changed.erase(name);
    CHECK(task_from_stored_json(changed).error().code == ErrorCode::corrupt);
  }
  auto newer = json;
  newer["version"] = 2;
  CHECK(task_from_stored_json(newer).error().code == ErrorCode::corrupt);
  auto unknown = json;
  unknown["state"] = "paused";
  CHECK(task_from_stored_json(unknown).error().code == ErrorCode::corrupt);
  CHECK(task_from_stored_json(Json()).error().code == ErrorCode::corrupt);
}

TEST_CASE("a stored attempt gives back every member") {
  const AttemptRecord attempt{.id = make_id<AttemptId>(),
                              .task = make_id<TaskId>(),
                              .sandbox = make_id<SandboxId>(),
                              .number = 3,
                              .state = AttemptState::unknown,
                              .epoch = ~0ULL,
                              .instance = "ab12",
                              .bind_intent = true,
                              .engine_id = "f00d"};
  const auto again = attempt_from_stored_json(parse_json(dump_json(to_stored_json(attempt))).value());
  REQUIRE(again);
  CHECK(again->id == attempt.id);
  CHECK(again->task == attempt.task);
  CHECK(again->sandbox == attempt.sandbox);
  CHECK(again->number == attempt.number);
  CHECK(again->state == attempt.state);
  CHECK(again->epoch == attempt.epoch);
  CHECK(again->instance == attempt.instance);
  CHECK(again->bind_intent == attempt.bind_intent);
  CHECK(again->engine_id == attempt.engine_id);
  auto broken = to_stored_json(attempt);
  broken["bind_intent"] = 1;
  CHECK(attempt_from_stored_json(broken).error().code == ErrorCode::corrupt);
  CHECK(attempt_from_stored_json(Json::object()).error().code == ErrorCode::corrupt);
}

TEST_CASE("the public view says how a task ended and whose fault it was in separate fields") {
  const auto json = to_public_json(ended_task(), SpecDetail::summary);
  CHECK(json["id"] == "tsk_1");
  CHECK(json["state"] == "failed");
  CHECK(json["reason"] == "exit_nonzero");
  CHECK(json["reason_class"] == "user");
  CHECK(json["exit_code"] == 3);
  CHECK(json["signal"].is_null());
  CHECK(json["limits_hit"] == Json{"pids"});
  CHECK(json["image_digest"].is_null());
  CHECK(json["command_summary"] == "sh -c cat");
  CHECK(json["granted"]["pids"] == 0);
  CHECK(json["desired"] == "run");
}

TEST_CASE("a task without a reason has neither reason nor class") {
  const auto json = to_public_json({}, SpecDetail::summary);
  CHECK(json["reason"].is_null());
  CHECK(json["reason_class"].is_null());
}

TEST_CASE("phases are the lengths between times and null where one end is unknown and never negative") {
  const auto json = to_public_json(ended_task(), SpecDetail::summary);
  CHECK(json["times"]["submitted"] == "2023-11-14T22:13:20.000Z");
  CHECK(json["times"]["destroyed"].is_null());
  CHECK(json["phases"] == Json{{"queue_ms", 250},
                               {"prepare_ms", 50},
                               {"start_ms", 700},
                               {"first_output_ms", nullptr},
                               {"run_ms", 0},
                               {"collect_ms", nullptr},
                               {"destroy_ms", nullptr}});
}

TEST_CASE("the summary shows no environment value and no stdin and no input content") {
  const auto task = ended_task();
  CHECK_THAT(dump_json(to_public_json(task, SpecDetail::summary)), !Catch::Contains("secret"));
  const auto full = to_public_json(task, SpecDetail::full);
  CHECK(full["spec"]["env"]["TOKEN"] == "env-secret");
  CHECK(full["spec"]["stdin"] == "stdin-secret");
  CHECK(full["spec"]["inputs"][0]["content"] == "input-secret");
}

TEST_CASE("the summary of a long command or script stays short") {
  TaskRecord task;
  task.spec.command = std::vector<std::string>(1000, std::string(1000, 'x'));
  CHECK(to_public_json(task, SpecDetail::summary)["command_summary"].get<std::string>().size() < 210);
  task.spec.command.clear();
  task.spec.script = "#!/bin/sh\n# comment\n\n  \nmake all\nrm x\n";
  CHECK(to_public_json(task, SpecDetail::summary)["command_summary"] == "make all");
  task.spec.script = "# only a comment";
  CHECK(to_public_json(task, SpecDetail::summary)["command_summary"] == "# only a comment");
}

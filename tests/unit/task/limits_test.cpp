#include "task/limits.hpp"

#include <catch2/catch.hpp>

#include "task/limits_fields.hpp"
#include "task/task_spec.hpp"

using namespace mayfly;

TEST_CASE("what is granted is the sum of memory and everything that is kept in memory") {
  const Limits limits{
      .millicpus = 1500, .memory = 512_MiB, .workspace = 128_MiB, .tmp = 64_MiB, .shm = 16_MiB, .pids = 100};
  const auto granted = grant(limits);
  CHECK(granted.memory == 728_MiB);
  CHECK(granted.pids == 104);
  CHECK(granted.millicpus == 1500);
}

TEST_CASE("the largest limits that anybody may write add up without overflow") {
  const auto most = limit_bounds::kMemory.most;
  const auto granted = grant({.memory = most, .workspace = most, .tmp = most, .shm = most});
  CHECK(granted.memory.count == 4 * most.count + kRunnerMemoryReserve.count);
}

TEST_CASE("limits after admission come back from their JSON") {
  for (const std::int64_t millicpus : {1, 10, 333, 500, 999, 1000, 1001, 2500, 1'024'000}) {
    const Limits limits{.millicpus = millicpus, .memory = Bytes{123'456'789}, .cpu_time = Millis(millicpus)};
    CHECK(limits_from_json(to_json(limits)).value() == limits);
  }
  CHECK(limits_from_json(to_json(Limits{})).value() == Limits{});
  CHECK(timeouts_from_json(to_json(Timeouts{})).value() == Timeouts{});
  const Timeouts odd{Millis(1), Millis(1001), Millis(61'001),        Millis(3'600'000),
                     Millis(0), Millis(1),    limit_bounds::kLongest};
  CHECK(timeouts_from_json(to_json(odd)).value() == odd);
  CHECK(granted_from_json(to_json(grant(Limits{}))).value() == grant(Limits{}));
}

TEST_CASE("limits are shown in plain numbers that a program can add") {
  const auto json = to_json(Limits{});
  CHECK(json["cpus"] == 1);
  CHECK(json["memory"] == 536'870'912);
  CHECK(json["cpu_time"] == "0s");
  CHECK(to_json(Limits{.millicpus = 500})["cpus"] == 0.5);
  CHECK(to_json(Timeouts{})["run"] == "10m");
}

TEST_CASE("stored limits with a member missing or changed are corrupt") {
  auto json = to_json(Limits{});
  json.erase("pids");
  CHECK(limits_from_json(json).error().code == ErrorCode::corrupt);
  json = to_json(Limits{});
  json["memory"] = -1;
  CHECK(limits_from_json(json).error().code == ErrorCode::corrupt);
  CHECK(timeouts_from_json(Json::array()).error().code == ErrorCode::corrupt);
  CHECK(granted_from_json(nullptr).error().code == ErrorCode::corrupt);
}

TEST_CASE("limits that were asked for come back from their JSON and absent ones stay absent") {
  FaultList faults;
  const LimitsAsked limits{.millicpus = 250, .memory = 64_MiB, .pids = 7, .cpu_time = Millis(1500)};
  const auto limits_json = to_json(limits);
  CHECK(limits_json.size() == 4);
  CHECK(read_limits(ObjectReader(limits_json, "", faults)) == limits);
  const TimeoutsAsked timeouts{.run = Millis(90'000), .stop = Millis(0)};
  const auto timeouts_json = to_json(timeouts);
  CHECK(read_timeouts(ObjectReader(timeouts_json, "", faults)) == timeouts);
  CHECK(faults.empty());
}

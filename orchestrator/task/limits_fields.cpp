#include "task/limits_fields.hpp"

#include <array>

namespace mayfly {
namespace {

using namespace std::string_view_literals;

// What an engine calls limits and Mayfly does not offer, because a wrong value would open the sandbox or
// starve it.
constexpr std::array kForbiddenLimits = {"memory_swap"sv,   "memory_swappiness"sv, "oom_kill_disable"sv,
                                         "oom_score_adj"sv, "ulimits"sv,           "cpuset_cpus"sv,
                                         "cpu_shares"sv,    "cpu_rt_runtime"sv,    "blkio_weight"sv,
                                         "devices"sv,       "cgroup_parent"sv,     "storage_opt"sv};
constexpr std::string_view kWhyForbidden = "a task cannot set this: the sandbox around it is fixed by policy";

void put(Json& json, const char* name, const std::optional<Bytes>& size) {
  if (size) json[name] = size->count;
}
void put(Json& json, const char* name, const std::optional<std::uint64_t>& count) {
  if (count) json[name] = *count;
}
void put(Json& json, const char* name, const std::optional<Millis>& duration) {
  if (duration) json[name] = format_duration(*duration);
}

}  // namespace

LimitsAsked read_limits(ObjectReader fields) {
  using namespace limit_bounds;
  LimitsAsked limits;
  limits.millicpus = fields.optional("cpus").as_millicpus(kMillicpus);
  limits.memory = fields.optional("memory").as_size(kMemory);
  limits.workspace = fields.optional("workspace").as_size(kTmpfs);
  limits.tmp = fields.optional("tmp").as_size(kTmpfs);
  limits.shm = fields.optional("shm").as_size(kTmpfs);
  limits.log_bytes = fields.optional("log").as_size(kLog);
  limits.pids = fields.optional("pids").as_count(kPids);
  limits.open_files = fields.optional("open_files").as_count(kOpenFiles);
  limits.cpu_time = fields.optional("cpu_time").as_duration(kTimeoutOrNone);
  fields.forbid(kForbiddenLimits, kWhyForbidden);
  fields.finish();
  return limits;
}

TimeoutsAsked read_timeouts(ObjectReader fields) {
  using namespace limit_bounds;
  TimeoutsAsked timeouts;
  timeouts.queue = fields.optional("queue").as_duration(kTimeout);
  timeouts.prepare = fields.optional("prepare").as_duration(kTimeout);
  timeouts.start = fields.optional("start").as_duration(kTimeout);
  timeouts.run = fields.optional("run").as_duration(kTimeout);
  timeouts.idle = fields.optional("idle").as_duration(kTimeoutOrNone);
  timeouts.stop = fields.optional("stop").as_duration(kTimeoutOrNone);
  timeouts.total = fields.optional("total").as_duration(kTimeout);
  fields.finish();
  return timeouts;
}

Json to_json(const LimitsAsked& limits) {
  Json json = Json::object();
  if (limits.millicpus) json["cpus"] = cpus_to_json(*limits.millicpus);
  put(json, "memory", limits.memory);
  put(json, "workspace", limits.workspace);
  put(json, "tmp", limits.tmp);
  put(json, "shm", limits.shm);
  put(json, "log", limits.log_bytes);
  put(json, "pids", limits.pids);
  put(json, "open_files", limits.open_files);
  put(json, "cpu_time", limits.cpu_time);
  return json;
}

Json to_json(const TimeoutsAsked& timeouts) {
  Json json = Json::object();
  put(json, "queue", timeouts.queue);
  put(json, "prepare", timeouts.prepare);
  put(json, "start", timeouts.start);
  put(json, "run", timeouts.run);
  put(json, "idle", timeouts.idle);
  put(json, "stop", timeouts.stop);
  put(json, "total", timeouts.total);
  return json;
}

}  // namespace mayfly

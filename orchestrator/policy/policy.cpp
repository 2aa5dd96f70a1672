#include "policy/policy.hpp"

#include "base/digest.hpp"
#include "policy/policy_version.hpp"
#include "policy/quantities.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;

Limits builtin_ceilings() {
  return {
      .millicpus = 4000,
      .memory = 4_GiB,
      .workspace = 1_GiB,
      .tmp = 1_GiB,
      .shm = 1_GiB,
      .log_bytes = 4_GiB,
      .pids = 1024,
      .open_files = 65'536,
      .cpu_time = 0ms,
  };
}

Timeouts builtin_timeout_ceilings() {
  return {
      .queue = 24h * 7,
      .prepare = 1h,
      .start = 10min,
      .run = 24h,
      .idle = 0ms,
      .stop = 5min,
      .total = 24h * 9,
  };
}

template <class Values, class Asked>
Json canonical(const Values& values, std::span<const Quantity<Values, Asked>> table) {
  Json json = Json::object();
  for (const auto& quantity : table) json[std::string(quantity.name)] = quantity.get(values);
  return json;
}

Json canonical_layer(const Limits& limits, const Timeouts& timeouts) {
  return {{"limits", canonical(limits, limit_quantities())},
          {"timeouts", canonical(timeouts, timeout_quantities())}};
}

}  // namespace

std::string to_string(const SourcePlace& place) {
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

// Everything that decides, in base units: two policies with one version decide alike.
std::string policy_version(const Policy& policy) {
  const Json json = {
      {"defaults", canonical_layer(policy.default_limits, policy.default_timeouts)},
      {"ceilings", canonical_layer(policy.max_limits, policy.max_timeouts)},
      {"artifacts", {{"bytes", policy.artifact_bytes.count}, {"files", policy.artifact_files}}},
      {"workspace", {{"tmpfs_max", policy.workspace_tmpfs_max.count}}},
      {"runner", {{"lease", policy.runner_lease.count()}}},
      {"accept_warnings", policy.accept_warnings},
      {"retention",
       {{"tasks", policy.retention.task_age.count()},
        {"log_bytes", policy.retention.log_bytes.count},
        {"idempotency_keys", policy.retention.idempotency_age.count()}}},
      {"capacity",
       {{"sandboxes", policy.capacity.sandboxes},
        {"cpus", policy.capacity.millicpus},
        {"memory", policy.capacity.memory.count},
        {"queued_tasks", policy.capacity.queued_tasks}}},
      {"disk", {{"reserve", policy.disk_reserve.count}}},
  };
  return "sha256:" + sha256_hex(dump_json(json));
}

Policy builtin_policy() {
  Policy policy;
  policy.max_limits = builtin_ceilings();
  policy.max_timeouts = builtin_timeout_ceilings();
  policy.version = policy_version(policy);
  return policy;
}

}  // namespace mayfly

// The decision whether a policy admits a task, and with what. Pure; called by lifecycle at submit and for a
// dry run.
#include <algorithm>

#include "policy/policy.hpp"
#include "policy/quantities.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {
namespace {

// A sandbox of little CPU and many busy processes starves the runner inside it: its answers took 8 s at 0.1
// cpu and 200 processes. A few are always possible, since a shell with a pipe needs them.
constexpr std::uint64_t kDefaultPidsPerCpu = 128;
constexpr std::uint64_t kFewPids = 8;

// The decision while it is made. Faults over a ceiling and others are told apart: they have different codes.
struct Draft {
  const Policy& policy;
  Limits limits;
  Timeouts timeouts;
  FaultList faults;
  bool over_ceiling = false;
};

std::string origin(const Policy& policy, const std::string& name) {
  const auto found = policy.places.find(name);
  return found == policy.places.end() ? "built in" : "set at " + to_string(found->second);
}

void fill_limits(const TaskSpec& spec, Draft& draft) {
  for (const auto& quantity : limit_quantities()) {
    if (const auto asked = quantity.asked(spec.limits)) quantity.set(draft.limits, *asked);
  }
  Limits& limits = draft.limits;
  if (!spec.limits.pids) {
    const auto per_cpu = kDefaultPidsPerCpu * static_cast<std::uint64_t>(limits.millicpus) / 1000;
    limits.pids = std::min(limits.pids, std::max(per_cpu, kFewPids));
  }
  if (!spec.limits.shm) limits.shm = std::min(limits.shm, limits.memory);
}

void fill_timeouts(const TaskSpec& spec, Draft& draft) {
  Timeouts& timeouts = draft.timeouts;
  if (spec.timeouts.total) timeouts.total = *spec.timeouts.total;
  const auto total = static_cast<std::uint64_t>(timeouts.total.count());
  for (const auto& quantity : timeout_quantities()) {
    const auto asked = quantity.asked(spec.timeouts);
    quantity.set(timeouts, asked ? *asked : std::min(quantity.get(timeouts), total));
  }
}

template <class Values, class Asked>
void check_quantity(const Quantity<Values, Asked>& quantity, const std::string& section, std::uint64_t value,
                    std::uint64_t ceiling, Draft& draft) {
  const std::string pointer = "/" + section + "/" + std::string(quantity.name);
  if (auto fault = find_bound_fault(quantity, value))
    return draft.faults.add(pointer, "out_of_range", *std::move(fault));
  if (!is_over(quantity, value, ceiling)) return;
  const bool unlimited = quantity.zero == ZeroMeans::no_limit && value == 0;
  const std::string name = "ceilings." + section + "." + std::string(quantity.name);
  draft.over_ceiling = true;
  draft.faults.add(pointer, "over_ceiling",
                   (unlimited ? "0 (no limit)" : format_quantity(quantity.unit, value)) +
                       " is over the ceiling of " + format_quantity(quantity.unit, ceiling) + " (" + name +
                       ", " + origin(draft.policy, name) + ")");
}

void check_quantities(Draft& draft) {
  for (const auto& quantity : limit_quantities())
    check_quantity(quantity, "limits", quantity.get(draft.limits), quantity.get(draft.policy.max_limits),
                   draft);
  for (const auto& quantity : timeout_quantities())
    check_quantity(quantity, "timeouts", quantity.get(draft.timeouts),
                   quantity.get(draft.policy.max_timeouts), draft);
}

void check_shm(const TaskSpec& spec, Draft& draft) {
  const Limits& limits = draft.limits;
  if (limits.shm <= limits.memory) return;
  const std::string whose = spec.limits.memory ? "the task asks for" : "the policy's default";
  draft.faults.add("/limits/shm", "out_of_range",
                   format_bytes(limits.shm) + " of shared memory is more than the memory of " +
                       format_bytes(limits.memory) + " (" + whose + "); ask for more memory too");
}

void check_workspace(Draft& draft) {
  const Bytes most = draft.policy.workspace_tmpfs_max;
  if (draft.limits.workspace <= most) return;
  draft.over_ceiling = true;
  draft.faults.add("/limits/workspace", "over_ceiling",
                   format_bytes(draft.limits.workspace) + " is more than the " + format_bytes(most) +
                       " up to which a workspace is a tmpfs (workspace.tmpfs_max, " +
                       origin(draft.policy, "workspace.tmpfs_max") +
                       "); this storage cannot hold a size limit on anything larger");
}

// Only what was asked can be longer: defaults gave way.
void check_phases(const TaskSpec& spec, Draft& draft) {
  const auto total = static_cast<std::uint64_t>(draft.timeouts.total.count());
  for (const auto& quantity : timeout_quantities()) {
    const std::uint64_t value = quantity.get(draft.timeouts);
    if (value <= total) continue;
    const std::string whose =
        spec.timeouts.total ? "which the task asks for" : "the policy's default; ask for more of it too";
    draft.faults.add("/timeouts/" + std::string(quantity.name), "out_of_range",
                     format_quantity(quantity.unit, value) + " is longer than timeouts.total, " +
                         format_duration(draft.timeouts.total) + " (" + whose + ")");
  }
}

// What is more than the node's whole share would wait in the queue for ever.
void check_capacity(const Granted& granted, Draft& draft) {
  const Capacity& capacity = draft.policy.capacity;
  if (capacity.memory.count > 0 && granted.memory > capacity.memory) {
    draft.over_ceiling = true;
    draft.faults.add("/limits/memory", "over_ceiling",
                     "with workspace, tmp, shm and the runner's reserve this is " +
                         format_bytes(granted.memory) +
                         ", more than all tasks together may have: " + format_bytes(capacity.memory) +
                         " (capacity.memory, " + origin(draft.policy, "capacity.memory") + ")");
  }
  if (capacity.millicpus > 0 && granted.millicpus > capacity.millicpus) {
    draft.over_ceiling = true;
    draft.faults.add("/limits/cpus", "over_ceiling",
                     format_millicpus(granted.millicpus) + " is more than all tasks together may have: " +
                         format_millicpus(capacity.millicpus) + " (capacity.cpus, " +
                         origin(draft.policy, "capacity.cpus") + ")");
  }
}

}  // namespace

Result<Admission> admit(const TaskSpec& spec, const Policy& policy) {
  Draft draft{
      .policy = policy, .limits = policy.default_limits, .timeouts = policy.default_timeouts, .faults = {}};
  fill_limits(spec, draft);
  fill_timeouts(spec, draft);
  check_quantities(draft);
  check_shm(spec, draft);
  check_workspace(draft);
  check_phases(spec, draft);
  if (draft.faults.empty()) check_capacity(grant(draft.limits), draft);
  if (!draft.faults.empty()) {
    const auto code = draft.over_ceiling ? ErrorCode::policy_denied : ErrorCode::unprocessable;
    return tl::unexpected<Error>(
        draft.faults.to_error(code, "the task under the policy \"" + policy.name + "\""));
  }
  return Admission{draft.limits, draft.timeouts, grant(draft.limits), policy.version};
}

}  // namespace mayfly

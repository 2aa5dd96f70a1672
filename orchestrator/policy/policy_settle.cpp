// Makes the values of a policy agree with each other (see settle in policy_draft.hpp).
#include "policy/policy_draft.hpp"

namespace mayfly {
namespace {

// The value of a default against the most that it may be. A default that the file has set is a fault when it
// is over; one that it has not gives way.
template <class Values, class Asked>
void fit_default(const Quantity<Values, Asked>& quantity, const std::string& layer, Values& defaults,
                 std::uint64_t most, const std::string& bound, PolicyDraft& draft) {
  const std::uint64_t value = quantity.get(defaults);
  if (!is_over(quantity, value, most)) return;
  const std::string name = layer + "." + std::string(quantity.name);
  if (!draft.is_said(name)) return quantity.set(defaults, most);
  const bool unlimited = quantity.zero == ZeroMeans::no_limit && value == 0;
  draft.add_fault(name, "over_ceiling",
                  "the default " + (unlimited ? "0 (no limit)" : format_quantity(quantity.unit, value)) +
                      " is over " + bound + " of " + format_quantity(quantity.unit, most));
}

template <class Values, class Asked>
void fit_under_ceilings(std::span<const Quantity<Values, Asked>> table, const std::string& section,
                        Values& defaults, const Values& ceilings, PolicyDraft& draft) {
  for (const auto& quantity : table) {
    const std::string ceiling = "ceilings." + section + "." + std::string(quantity.name);
    const std::string bound = ceiling + " (" + draft.origin(ceiling) + ")";
    fit_default(quantity, "defaults." + section, defaults, quantity.get(ceilings), bound, draft);
  }
}

void fit_sizes(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  const std::string memory = "defaults.limits.memory (" + draft.origin("defaults.limits.memory") + ")";
  const std::string tmpfs = "workspace.tmpfs_max (" + draft.origin("workspace.tmpfs_max") + ")";
  for (const auto& quantity : limit_quantities()) {
    if (quantity.name == "shm")
      fit_default(quantity, "defaults.limits", policy.default_limits, policy.default_limits.memory.count,
                  memory, draft);
    if (quantity.name == "workspace")
      fit_default(quantity, "defaults.limits", policy.default_limits, policy.workspace_tmpfs_max.count, tmpfs,
                  draft);
  }
}

void fit_phases(PolicyDraft& draft) {
  Timeouts& timeouts = draft.policy.default_timeouts;
  const std::string total = "defaults.timeouts.total (" + draft.origin("defaults.timeouts.total") + ")";
  for (const auto& quantity : timeout_quantities()) {
    const bool no_limit = quantity.zero == ZeroMeans::no_limit && quantity.get(timeouts) == 0;
    if (!no_limit)
      fit_default(quantity, "defaults.timeouts", timeouts, static_cast<std::uint64_t>(timeouts.total.count()),
                  total, draft);
  }
}

// A task that asks for nothing must fit into the node.
void check_capacity(PolicyDraft& draft) {
  const Granted granted = grant(draft.policy.default_limits);
  const Capacity& capacity = draft.policy.capacity;
  if (capacity.memory.count > 0 && granted.memory > capacity.memory)
    draft.add_fault(
        "capacity.memory", "out_of_range",
        format_bytes(capacity.memory) + " is less than the " + format_bytes(granted.memory) +
            " that one task of defaults is granted (memory, workspace, tmp, shm and the runner's reserve)");
  if (capacity.millicpus > 0 && granted.millicpus > capacity.millicpus)
    draft.add_fault("capacity.cpus", "out_of_range",
                    format_millicpus(capacity.millicpus) + " is less than the " +
                        format_millicpus(granted.millicpus) + " of one task of defaults");
}

}  // namespace

void settle(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  fit_under_ceilings(limit_quantities(), "limits", policy.default_limits, policy.max_limits, draft);
  fit_under_ceilings(timeout_quantities(), "timeouts", policy.default_timeouts, policy.max_timeouts, draft);
  fit_sizes(draft);
  fit_phases(draft);
  check_capacity(draft);
}

}  // namespace mayfly

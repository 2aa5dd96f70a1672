// The bare `execution_policy` block that an operations team may already have. What it says is a default and a
// ceiling at once; what this version does otherwise than it says is a note, and what it cannot do is a fault.
#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "policy/policy_draft.hpp"

namespace mayfly {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostNames = 256;
constexpr std::array kWritable{"/workspace"sv, "/tmp"sv};
constexpr std::array kPolicyKeys{"apiVersion"sv, "kind"sv, "metadata"sv, "spec"sv};

// A value of the block is the task's when it asks for nothing, and the most that it may ask for.
template <class Values, class Asked>
void set_both(std::string_view name, const Field& field, std::uint64_t value, Values& defaults,
              Values& ceilings, std::span<const Quantity<Values, Asked>> table, PolicyDraft& draft) {
  const auto quantity =
      std::find_if(table.begin(), table.end(), [name](const auto& q) { return q.name == name; });
  if (auto fault = find_bound_fault(*quantity, value))
    return field.add_fault("out_of_range", *std::move(fault));
  quantity->set(defaults, value);
  quantity->set(ceilings, value);
  draft.record("defaults.limits." + std::string(name), field);
  draft.record("ceilings.limits." + std::string(name), field);
}

// A whole number of `unit`s.
void read_block_limit(const Field& field, std::string_view name, std::uint64_t unit, PolicyDraft& draft) {
  const auto count = read_quantity(field, QuantityUnit::count);
  if (!count) return;
  constexpr std::uint64_t kMostCount = 1ULL << 32U;
  if (*count == 0)
    return field.add_fault("out_of_range",
                           "0 is no limit that a task could live under; leave the field out instead");
  if (*count > kMostCount) return field.add_fault("out_of_range", std::to_string(*count) + " is too much");
  set_both(name, field, *count * unit, draft.policy.default_limits, draft.policy.max_limits,
           limit_quantities(), draft);
}

void read_block_limits(ObjectReader fields, PolicyDraft& draft) {
  read_block_limit(fields.optional("cpu_seconds"), "cpu_time", 1000, draft);
  read_block_limit(fields.optional("memory_mb"), "memory", 1ULL << 20U, draft);
  read_block_limit(fields.optional("max_processes"), "pids", 1, draft);
  fields.finish();
}

void read_default_runtime(const Field& field, PolicyDraft& draft) {
  const auto name = field.as_text();
  if (!name || *name == "docker") return;
  if (*name == "isolate") {
    draft.add_note(field,
                   "there is no isolate runtime in this version; tasks run in the default runtime, docker");
  } else {
    field.add_fault("bad_format",
                    "this version knows the runtimes docker and isolate (which acts as docker), not " +
                        quote_for_message(*name));
  }
}

void read_container_required_for(const Field& field, PolicyDraft& draft) {
  for (const Field& item : field.as_list(kMostNames)) item.as_text({.least = 1, .most = 128});
  if (field) draft.add_note(field, "every task runs in a container in this version, so this always holds");
}

void read_filesystem(ObjectReader fields, PolicyDraft& draft) {
  const Field paths = fields.optional("writable_paths");
  bool tmp_listed = false;
  for (const Field& item : paths.as_list(kMostNames)) {
    const auto path = item.as_text();
    if (!path) continue;
    tmp_listed = tmp_listed || *path == "/tmp";
    if (std::find(kWritable.begin(), kWritable.end(), *path) == kWritable.end())
      item.add_fault("forbidden_path",
                     quote_for_message(*path) +
                         " cannot be writable: a sandbox's root is read-only, and only the whole of "
                         "/workspace and /tmp can be written to");
  }
  if (paths && !tmp_listed)
    draft.add_note(paths, "/tmp is writable too: a tmpfs of its own, of size limits.tmp");
  const Field persistent = fields.optional("persistent");
  if (persistent.as_flag().value_or(false))
    persistent.add_fault("unsupported",
                         "a workspace lives as long as its task: nothing persists before there are "
                         "sessions; remove this or say false, and collect results by the task's outputs");
  fields.finish();
}

void read_network(ObjectReader fields) {
  const Field access = fields.optional("default");
  const auto word = access.as_text();
  if (word && *word != "deny")
    access.add_fault("unsupported",
                     "must be deny, not " + quote_for_message(*word) + ": a sandbox has no network");
  const Field hosts = fields.optional("allowed_hosts");
  for (const Field& item : hosts.as_list(kMostNames)) item.as_text({.least = 1, .most = 253});
  if (hosts && hosts.value()->is_array() && !hosts.value()->empty())
    hosts.add_fault("unsupported",
                    "this version has no egress proxy, so no host can be allowed; leave the list empty");
  fields.finish();
}

}  // namespace

void read_execution_policy(ObjectReader root, PolicyDraft& draft) {
  root.forbid(kPolicyKeys, "a file is either a kind: Policy or a bare execution_policy block, not both");
  draft.policy.name = "execution-policy";
  ObjectReader block = root.required("execution_policy").as_object();
  read_default_runtime(block.optional("default_runtime"), draft);
  read_container_required_for(block.optional("container_required_for"), draft);
  read_block_limits(block.optional("limits").as_object(), draft);
  read_filesystem(block.optional("filesystem").as_object(), draft);
  read_network(block.optional("network").as_object());
  block.finish();
  root.finish();
}

}  // namespace mayfly

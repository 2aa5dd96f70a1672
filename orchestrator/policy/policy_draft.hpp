// A policy while it is read from a file: the document, the faults so far, and who said what. Used by
// policy_parse.cpp, policy_block.cpp and policy_settle.cpp. One thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "policy/policy.hpp"
#include "policy/quantities.hpp"
#include "policy/yaml.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {

struct PolicyDraft {
  YamlDocument document;
  std::string file_name;
  FaultList faults;
  Policy policy;
  std::map<std::string, std::string> pointers;  // "defaults.limits.memory" → the JSON pointer that set it

  // The file has set `name`, by the value at `field`.
  void record(const std::string& name, const Field& field);
  bool is_said(const std::string& name) const { return pointers.contains(name); }
  // A fault of a value that the file has set.
  void add_fault(const std::string& name, std::string code, std::string detail);
  void add_note(const Field& field, const std::string& note);
  // "policies/default.yaml:12:5", or "built in".
  std::string origin(const std::string& name) const;
};

// One number in its unit; bounds are checked by the caller, who knows the reason for them.
std::optional<std::uint64_t> read_quantity(const Field& field, QuantityUnit unit);

// A section of limits or timeouts, finished. `layer` is "defaults.limits" and the like.
template <class Values, class Asked>
void read_quantities(ObjectReader fields, std::span<const Quantity<Values, Asked>> table,
                     const std::string& layer, std::type_identity_t<Values>& into, PolicyDraft& draft) {
  for (const auto& quantity : table) {
    const Field field = fields.optional(quantity.name);
    const auto value = read_quantity(field, quantity.unit);
    if (!value) continue;
    if (auto fault = find_bound_fault(quantity, *value)) {
      field.add_fault("out_of_range", *std::move(fault));
      continue;
    }
    quantity.set(into, *value);
    draft.record(layer + "." + std::string(quantity.name), field);
  }
  fields.finish();
}

// `kind: Policy`, from its root; and the bare `execution_policy` block.
void read_policy_document(ObjectReader root, PolicyDraft& draft);
void read_execution_policy(ObjectReader root, PolicyDraft& draft);

// Makes the values agree with each other: what the file said stands or is a fault, what it did not say gives
// way.
void settle(PolicyDraft& draft);

}  // namespace mayfly

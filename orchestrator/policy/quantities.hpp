// The numbers of Limits and Timeouts as a table: name, unit, absolute bounds, and how to reach them. Policy
// parsing, admission and the policy's canonical text all walk it, so that a new limit is one line here. Pure
// values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "task/limits.hpp"

namespace mayfly {

enum class QuantityUnit { bytes, count, millicpus, duration };
enum class ZeroMeans { zero, no_limit };

// One number of Values (Limits or Timeouts). Every unit is carried as an unsigned number: bytes, pieces,
// thousandths of a processor, milliseconds.
template <class Values, class Asked>
struct Quantity {
  std::string_view name;  // as in a spec and a policy
  QuantityUnit unit;
  ZeroMeans zero;
  std::uint64_t least;  // whatever a policy says
  std::uint64_t most;
  std::string_view why_least;
  std::uint64_t (*get)(const Values&);
  void (*set)(Values&, std::uint64_t);
  std::optional<std::uint64_t> (*asked)(const Asked&);
};
using LimitQuantity = Quantity<Limits, LimitsAsked>;
using TimeoutQuantity = Quantity<Timeouts, TimeoutsAsked>;

std::span<const LimitQuantity> limit_quantities();
std::span<const TimeoutQuantity> timeout_quantities();

std::string format_quantity(QuantityUnit unit, std::uint64_t value);

// Why a value can never be used, or nullopt.
template <class Values, class Asked>
std::optional<std::string> find_bound_fault(const Quantity<Values, Asked>& quantity, std::uint64_t value);

// Whether a value is more than its ceiling. "No limit" is more than any ceiling, but for a ceiling of no
// limit.
template <class Values, class Asked>
bool is_over(const Quantity<Values, Asked>& quantity, std::uint64_t value, std::uint64_t ceiling) {
  const bool unlimited_by_zero = quantity.zero == ZeroMeans::no_limit;
  if (unlimited_by_zero && ceiling == 0) return false;
  return value > ceiling || (unlimited_by_zero && value == 0);
}

template <class Values, class Asked>
std::optional<std::string> find_bound_fault(const Quantity<Values, Asked>& quantity, std::uint64_t value) {
  if (quantity.zero == ZeroMeans::no_limit && value == 0) return std::nullopt;
  const std::string shown = format_quantity(quantity.unit, value);
  if (value < quantity.least)
    return shown + " is less than " + format_quantity(quantity.unit, quantity.least) + ": " +
           std::string(quantity.why_least);
  if (value > quantity.most)
    return shown + " is more than " + format_quantity(quantity.unit, quantity.most) +
           ", the most that Mayfly handles";
  return std::nullopt;
}

}  // namespace mayfly

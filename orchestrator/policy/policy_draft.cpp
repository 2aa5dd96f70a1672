#include "policy/policy_draft.hpp"

#include "base/utf8.hpp"

namespace mayfly {
namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr auto kAnyMillicpus = std::numeric_limits<std::int64_t>::max();

// Text where a number belongs is mostly a look-alike (0100, 0x40, 1_000, 1e3, "64"): the message shows it.
std::optional<std::uint64_t> read_count(const Field& field) {
  if (!field || !field.value()->is_string()) return field.as_count({0, kAny});
  field.add_fault("wrong_type",
                  quote_for_message(field.value()->get_ref<const std::string&>()) +
                      " is text; write a whole number in plain decimals and without quotes, as in 64");
  return std::nullopt;
}

template <class T, class ToNumber>
std::optional<std::uint64_t> map_to_number(const std::optional<T>& value, ToNumber to_number) {
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(to_number(*value));
}

}  // namespace

void PolicyDraft::record(const std::string& name, const Field& field) {
  pointers[name] = field.pointer();
  policy.places[name] = place_of(document, field.pointer());
}

void PolicyDraft::add_fault(const std::string& name, std::string code, std::string detail) {
  faults.add(pointers.at(name), std::move(code), std::move(detail));
}

void PolicyDraft::add_note(const Field& field, const std::string& note) {
  policy.notes.push_back(to_string(place_of(document, field.pointer())) + ": " + key_path(field.pointer()) +
                         ": " + note);
}

std::string PolicyDraft::origin(const std::string& name) const {
  const auto found = policy.places.find(name);
  return found == policy.places.end() ? "built in" : to_string(found->second);
}

std::optional<std::uint64_t> read_quantity(const Field& field, QuantityUnit unit) {
  switch (unit) {
    case QuantityUnit::bytes:
      return map_to_number(field.as_size({Bytes{0}, Bytes{kAny}}), [](Bytes size) { return size.count; });
    case QuantityUnit::count:
      return read_count(field);
    case QuantityUnit::millicpus:
      return map_to_number(field.as_millicpus({0, kAnyMillicpus}), [](std::int64_t value) { return value; });
    case QuantityUnit::duration:
      return map_to_number(field.as_duration({Millis(0), Millis::max()}),
                           [](Millis value) { return value.count(); });
  }
  return std::nullopt;
}

}  // namespace mayfly

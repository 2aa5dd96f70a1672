// One table per enum for both directions, enum to name and name to enum. Internal to task/. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace mayfly {

template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};
template <class Enum>  // clang before 17 deduces nothing for aggregates
Named(Enum, std::string_view)->Named<Enum>;

// Rows are anything with `value` and `name`. For static_assert: the rows stand in the order of the enum, from
// its first value to `last`, so that a value is its own index.
template <class Table, class Enum>
constexpr bool is_complete(const Table& table, Enum last) {
  if (table.size() != static_cast<std::size_t>(last) + 1) return false;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].value) != i) return false;
  }
  return true;
}

// An enum value that is in no row is a bug; std::array::at throws.
template <class Table, class Enum>
constexpr std::string_view name_in(const Table& table, Enum value) {
  return table.at(static_cast<std::size_t>(value)).name;
}

template <class Table>
constexpr auto find_in(const Table& table, std::string_view name) {
  std::optional<decltype(table.front().value)> found;
  for (const auto& row : table) {
    if (row.name == name) found = row.value;
  }
  return found;
}

}  // namespace mayfly

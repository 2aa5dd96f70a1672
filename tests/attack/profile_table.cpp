#include "attack/profile_table.hpp"

#include <iomanip>
#include <sstream>

namespace mayfly::test {
namespace {

std::string text_of(const Json& value) {
  const bool is_empty_text = value.is_string() && value.get_ref<const std::string&>().empty();
  if (value.is_null() || is_empty_text || (value.is_structured() && value.empty())) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool differs(const ProfileRow& row) {
  return (row.inspect != "-" && row.inspect != row.wanted) || (row.kernel != "-" && row.kernel != row.wanted);
}

std::string shorten(const std::string& text) {
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace

void ProfileTable::both(const std::string& pointer, const std::string& wanted, const std::string& kernel) {
  const Json::json_pointer place(pointer);
  rows_.push_back(
      {pointer.substr(1), wanted, inspect_.contains(place) ? text_of(inspect_[place]) : "none", kernel});
}

void ProfileTable::observed(const std::string& field, const std::string& wanted, const std::string& kernel) {
  rows_.push_back({field, wanted, "-", kernel});
}

std::vector<ProfileRow> ProfileTable::differences() const {
  std::vector<ProfileRow> found;
  for (const ProfileRow& row : rows_) {
    if (differs(row)) found.push_back(row);
  }
  return found;
}

std::string ProfileTable::text() const {
  std::ostringstream out;
  const auto line = [&out](const std::string& mark, const ProfileRow& row) {
    out << mark << std::left << std::setw(46) << row.field << std::setw(62) << shorten(row.wanted)
        << std::setw(62) << shorten(row.inspect) << shorten(row.kernel) << '\n';
  };
  line("  ", {"field", "wanted", "inspect", "cgroup and /proc"});
  for (const ProfileRow& row : rows_) line(differs(row) ? "! " : "  ", row);
  return out.str();
}

}  // namespace mayfly::test

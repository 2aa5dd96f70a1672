#include "cli/console.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.hpp"

namespace mayfly::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

// Characters on the screen: continuation bytes of UTF-8 take no place. Wide characters count as one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

const char* colour_of(std::string_view state) {
  if (state == "succeeded") return "\x1b[32m";
  if (state == "failed" || state == "lost" || state == "rejected") return "\x1b[31m";
  if (state == "timed_out" || state == "cancelled") return "\x1b[33m";
  return "\x1b[36m";
}

std::string one_line(std::string_view cell) {
  std::string text = escape_for_terminal(cell);
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

Output choose_output(bool json_wanted, bool table_wanted) {
  if (table_wanted) return Output::table;
  return json_wanted || isatty(STDOUT_FILENO) == 0 ? Output::json : Output::table;
}

bool use_colour() {
  return isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

std::string colour_state(std::string_view state, std::string_view text) {
  if (!use_colour()) return std::string(text);
  return colour_of(state) + std::string(text) + "\x1b[0m";
}

void print_table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  widths.reserve(heads.size());
  for (const std::string& head : heads) widths.push_back(width_of(head));
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(one_line(row[i]));
      widths.at(i) = std::max(widths.at(i), width_of(line.back()));
    }
  }
  const auto print_line = [&](const std::vector<std::string>& line, bool is_head) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(i + 1 < line.size() ? widths[i] - width_of(line[i]) + 2 : 0, ' ');
      text += (!is_head && heads[i] == "STATE" ? colour_state(line[i], line[i]) : line[i]) + padding;
    }
    std::puts(text.c_str());
  };
  print_line(heads, true);
  for (const auto& line : cells) print_line(line, false);
}

void print_json(const Json& value) {
  std::puts(
      value.dump(isatty(STDOUT_FILENO) == 1 ? 2 : -1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_error(const Error& error) {
  say(error.message);
  for (const FieldFault& fault : error.fields) {
    std::fprintf(stderr, "  %s: %s\n", one_line(fault.pointer).c_str(), one_line(fault.detail).c_str());
  }
}

void say(std::string_view text) {
  std::fprintf(stderr, "mayfly: %s\n", escape_for_terminal(text).c_str());
}

}  // namespace mayfly::cli

#include "task/field_names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace mayfly {
namespace {

constexpr std::size_t kMostShownKey = 128;
constexpr std::size_t kMostComparedName = 64;

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// "mem" for "memory": a beginning of three letters or more is as near as one wrong letter.
std::size_t distance_of(const std::string& word, const std::string& name) {
  const bool begins = word.size() >= 3 && name.starts_with(word);
  return std::min(edit_distance(word, name), begins ? std::size_t{1} : name.size());
}

}  // namespace

std::string pointer_to(std::string_view parent, std::string_view key) {
  std::string pointer(parent);
  pointer.push_back('/');
  for (const char c : shorten_text(key, kMostShownKey)) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer.push_back(c);
    }
  }
  return pointer;
}

std::string fold_name(std::string_view name) {
  std::string folded;
  folded.reserve(name.size());
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    folded.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return folded;
}

std::optional<std::string_view> find_similar(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > kMostComparedName) return std::nullopt;
  const auto folded = fold_name(word);
  std::optional<std::string_view> nearest;
  std::size_t least = std::max<std::size_t>(1, folded.size() / 3) + 1;  // as far as this is no slip any more
  for (const auto name : names) {
    const auto distance = distance_of(folded, fold_name(name));
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string shorten_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto is_continuation = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (most > 0 && is_continuation(most)) --most;
  return std::string(text.substr(0, most)) + "…";
}

}  // namespace mayfly

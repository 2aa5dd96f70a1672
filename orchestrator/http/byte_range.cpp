#include "http/byte_range.hpp"

#include <algorithm>
#include <charconv>

namespace mayfly::http {
namespace {

// Plain decimal; a number too big for 64 bits is as good as the biggest.
std::optional<std::uint64_t> parse_position(std::string_view text) {
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range ? UINT64_MAX : value;
}

RangeDecision decide_suffix(std::string_view text, std::uint64_t size) {
  const auto suffix = parse_position(text);
  if (!suffix) return {};
  if (*suffix == 0 || size == 0) return {.outcome = RangeOutcome::unsatisfiable, .range = {}};
  const std::uint64_t length = std::min(*suffix, size);
  return {.outcome = RangeOutcome::satisfiable, .range = {.first = size - length, .length = length}};
}

}  // namespace

RangeDecision decide_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return {};
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view first_text = header.substr(0, dash);
  const std::string_view last_text = header.substr(dash + 1);
  if (first_text.empty()) return decide_suffix(last_text, size);
  const auto first = parse_position(first_text);
  const auto last = last_text.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : parse_position(last_text);
  if (!first || !last || *last < *first) return {};
  if (*first >= size) return {.outcome = RangeOutcome::unsatisfiable, .range = {}};
  const std::uint64_t end = std::min(*last, size - 1);
  return {.outcome = RangeOutcome::satisfiable, .range = {.first = *first, .length = end - *first + 1}};
}

std::string content_range(const ByteRange& range, std::optional<std::uint64_t> size) {
  return "bytes " + std::to_string(range.first) + '-' + std::to_string(range.first + range.length - 1) + '/' +
         (size ? std::to_string(*size) : "*");
}

}  // namespace mayfly::http

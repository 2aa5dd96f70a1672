#include "policy/yaml_scalar.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace mayfly {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

enum class NumberForm { none, integer, fraction };

// -?(0|[1-9][0-9]*)(\.[0-9]+)? and not "-0": one spelling for one number, and none that another YAML reads
// otherwise.
NumberForm number_form(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t whole = count_digits(text);
  if (whole == 0 || (whole > 1 && text[0] == '0')) return NumberForm::none;
  if (whole == text.size()) return negative && text == "0" ? NumberForm::none : NumberForm::integer;
  const std::string_view fraction = text.substr(whole + 1);
  const bool good = text[whole] == '.' && !fraction.empty() && count_digits(fraction) == fraction.size();
  return good ? NumberForm::fraction : NumberForm::none;
}

template <class T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Json type_plain_scalar(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  const NumberForm form = number_form(text);
  if (form == NumberForm::integer) {
    if (const auto value = to_number<std::int64_t>(text)) return *value;
    if (const auto value = to_number<std::uint64_t>(text)) return *value;
  }
  if (form == NumberForm::fraction) {
    if (const auto value = to_number<double>(text); value && std::isfinite(*value)) return *value;
  }
  return text;
}

}  // namespace mayfly

#include "base/bytes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/utf8.hpp"

namespace mayfly {
namespace {

constexpr std::uint64_t kMostExact = 1ULL << 53U;  // the largest integer that every JSON reader keeps exact
constexpr std::string_view kDigits = "0123456789";

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

// From the largest to the smallest of each kind; the binary ones first, so that they win a tie in length.
constexpr std::array<Unit, 9> kUnits{{
    {"Ti", 1ULL << 40U},
    {"Gi", 1ULL << 30U},
    {"Mi", 1ULL << 20U},
    {"Ki", 1ULL << 10U},
    {"T", 1'000'000'000'000ULL},
    {"G", 1'000'000'000ULL},
    {"M", 1'000'000ULL},
    {"k", 1'000ULL},
    {"", 1ULL},
}};

tl::unexpected<Error> refuse(std::string_view text, std::string_view form) {
  return fail(ErrorCode::invalid_argument, quote_for_message(text) + " is not " + std::string(form));
}

tl::unexpected<Error> refuse_bytes(std::string_view text) {
  return refuse(
      text,
      "a size: write a whole number of bytes, at most 2^53, without sign, fraction or leading zeros, and "
      "after it Ki, Mi, Gi or Ti (powers of 1024), k, M, G or T (powers of 1000), or nothing, as in "
      "\"512Mi\"");
}

tl::unexpected<Error> refuse_millicpus(std::string_view text) {
  return refuse(text,
                "a number of cpus: write a plain decimal number with at most three decimals, as in \"2\" or "
                "\"0.5\", or "
                "thousandths, as in \"500m\"");
}

// Digits without leading zeros that fit; nothing else says what is wrong.
bool read_decimal(std::string_view text, std::uint64_t& value) {
  if (text.empty() || text.find_first_not_of(kDigits) != std::string_view::npos) return false;
  if (text.size() > 1 && text.front() == '0') return false;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
}

// "5" is 500 thousandths, "25" 250, "125" 125.
bool read_thousandths(std::string_view decimals, std::uint64_t& value) {
  if (decimals.empty() || decimals.size() > 3) return false;
  value = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const char c = i < decimals.size() ? decimals[i] : '0';
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

}  // namespace

Result<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  if (read_decimal(text, value)) return value;
  return refuse(
      text,
      "a number: write plain decimal digits without sign, point, exponent or leading zeros, as in \"64\", "
      "at most 18446744073709551615");
}

Result<Bytes> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view suffix = text.substr(digits);
  const auto* unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.suffix == suffix; });
  std::uint64_t count = 0;
  if (unit == kUnits.end() || !read_decimal(text.substr(0, digits), count)) return refuse_bytes(text);
  if (count > kMostExact / unit->factor) return refuse_bytes(text);
  return Bytes{count * unit->factor};
}

std::string format_bytes(Bytes size) {
  std::string shortest = std::to_string(size.count);
  if (size.count == 0) return shortest;
  for (const Unit& unit : kUnits) {
    if (size.count % unit.factor != 0) continue;
    std::string candidate = std::to_string(size.count / unit.factor).append(unit.suffix);
    if (candidate.size() < shortest.size()) shortest = std::move(candidate);
  }
  return shortest;
}

Result<std::int64_t> parse_millicpus(std::string_view text) {
  std::uint64_t whole = 0;
  if (text.ends_with('m')) {
    if (!read_decimal(text.substr(0, text.size() - 1), whole) || whole > kMostExact)
      return refuse_millicpus(text);
    return static_cast<std::int64_t>(whole);
  }
  const std::size_t point = text.find('.');
  std::uint64_t thousandths = 0;
  if (!read_decimal(text.substr(0, point), whole) || whole > kMostExact / 1000) return refuse_millicpus(text);
  if (point != std::string_view::npos && !read_thousandths(text.substr(point + 1), thousandths)) {
    return refuse_millicpus(text);
  }
  return static_cast<std::int64_t>(whole * 1000 + thousandths);
}

std::string format_millicpus(std::int64_t millicpus) {
  const bool negative = millicpus < 0;
  const std::uint64_t amount =
      negative ? 0 - static_cast<std::uint64_t>(millicpus) : static_cast<std::uint64_t>(millicpus);
  std::string text = (negative ? "-" : "") + std::to_string(amount / 1000);
  if (amount % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + amount % 1000).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + "." + decimals;
}

}  // namespace mayfly

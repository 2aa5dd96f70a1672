// Sizes as a type, and the quantities that operations teams know from Kubernetes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

// A size in bytes. Values; any thread.
struct Bytes {
  std::uint64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

constexpr Bytes operator""_KiB(unsigned long long n) {
  return {n << 10U};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return {n << 20U};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return {n << 30U};
}

// "512Mi", "1Gi", "64Ki" (powers of 1024), "500M", "1G", "10k" (powers of 1000), or a plain decimal number of
// bytes. Refused, with the accepted form in the message: fractions, signs, spaces, exponents, leading zeros,
// other units
// ("512MB", "512mb"), more than 2^53 bytes.
Result<Bytes> parse_bytes(std::string_view text);
// The shortest exact form that parse_bytes reads back ("512Mi", "1500").
std::string format_bytes(Bytes size);

// Thousandths of a processor. "1", "2", "0.5", "500m". At most three decimals; refused: signs, exponents,
// nan, inf.
Result<std::int64_t> parse_millicpus(std::string_view text);
std::string format_millicpus(std::int64_t millicpus);

// Plain decimal without sign and leading zeros ("0100", "0x40", "+5", "1_000", "1e3", "64.0" are refused).
Result<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace mayfly

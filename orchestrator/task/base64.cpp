#include "task/base64.hpp"

#include <array>
#include <cstdint>

namespace mayfly {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr auto kValues = make_values();

std::size_t count_padding(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= group.size() ? kAlphabet[bits >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return text;
}

Result<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail(ErrorCode::invalid_argument,
                "base64 comes in groups of four characters, padded with '='; the length is " +
                    std::to_string(text.size()));
  }
  const auto digits = text.substr(0, text.size() - count_padding(text));
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned held = 0;  // how many low bits of `bits` are not yet written
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const auto value = kValues[static_cast<unsigned char>(digits[at])];
    if (value == kNone) {
      return fail(ErrorCode::invalid_argument,
                  "not a character of standard base64 (A-Z a-z 0-9 + /) at offset " + std::to_string(at));
    }
    bits = (bits << 6U | value) & 0xffffU;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xffU));
  }
  if ((bits & ((1U << held) - 1U)) != 0) {
    return fail(ErrorCode::invalid_argument,
                "the last character of the base64 text has bits that belong to no byte");
  }
  return bytes;
}

}  // namespace mayfly

#include "http/url.hpp"

#include <algorithm>
#include <cctype>

namespace mayfly::http {
namespace {

constexpr std::size_t kQueryPairs = 64;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode_form(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return fail(ErrorCode::invalid_argument, "the URL holds a broken percent escape");
    result.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return result;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool unreserved = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                            std::string_view("-._~").find(c) != std::string_view::npos);
    if (unreserved) {
      result.push_back(c);
    } else {
      result.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
    }
  }
  return result;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view item = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t equals = item.find('=');
    auto name = decode_form(item.substr(0, equals));
    auto value = decode_form(equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1));
    if (!name) return fail_with(std::move(name));
    if (!value) return fail_with(std::move(value));
    if (name->empty()) return fail(ErrorCode::invalid_argument, "the query holds a parameter without a name");
    if (pairs.size() == kQueryPairs)
      return fail(ErrorCode::invalid_argument, "the query holds more than 64 parameters");
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

Result<std::string> decode_segment(std::string_view segment, SegmentUse use) {
  auto decoded = percent_decode(segment);
  if (!decoded) return decoded;
  const auto forbidden = [use](char c) {
    if (c == '/' || c == '\0') return true;
    return use == SegmentUse::name && (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == '\x7f');
  };
  const bool dots = *decoded == "." || *decoded == "..";
  if (decoded->empty() || dots || std::any_of(decoded->begin(), decoded->end(), forbidden)) {
    return fail(ErrorCode::invalid_argument, "the path holds an empty, dot, control or separator segment");
  }
  return decoded;
}

}  // namespace mayfly::http

#include "docker_api/request_target.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/utf8.hpp"

namespace mayfly::docker {

namespace {

constexpr std::size_t kMostName = 255;
constexpr std::size_t kMostReference = 512;

// Without the locale that std::isalnum looks at.
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_name_character(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
}
bool is_unreserved(char c) {
  return is_name_character(c) || c == '~';
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), is_name_character);
}

bool is_reference(std::string_view text) {
  for (;;) {
    const std::size_t border = text.find_first_of("/:@");
    if (!is_name(text.substr(0, border))) return false;
    if (border == std::string_view::npos) return true;
    text.remove_prefix(border + 1);
  }
}

std::string shown(std::string_view text) {
  return escape_for_terminal(text.substr(0, kMostName));
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
  }
  return out;
}

Result<void> check_object_name(std::string_view name) {
  if (is_name(name) && name.size() <= kMostName) return {};
  return fail(ErrorCode::invalid_argument,
              "\"" + shown(name) +
                  "\" is no name of an engine object: letters, digits, _ . and - only, "
                  "the first a letter or digit, at most 255");
}

Result<void> check_image_reference(std::string_view reference) {
  if (is_reference(reference) && reference.size() <= kMostReference) return {};
  return fail(ErrorCode::invalid_argument,
              "\"" + shown(reference) + "\" is no image reference, like debian:12 or sha256:…");
}

std::string with_query(std::string path, std::initializer_list<QueryPart> query) {
  char border = '?';
  for (const auto& [key, value] : query) {
    path += border;
    path += percent_encode(key);
    path += '=';
    path += percent_encode(value);
    border = '&';
  }
  return path;
}

std::string label_filter(std::string_view label) {
  Json filter = Json::object();
  filter["label"] = Json::array({std::string(label)});
  return dump_json(filter);
}

}  // namespace mayfly::docker

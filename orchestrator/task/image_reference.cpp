#include "task/image_reference.hpp"

#include <algorithm>
#include <string>

namespace mayfly {
namespace {

constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::size_t kDigestHex = 64;
constexpr std::size_t kMostTagBytes = 128;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower_or_digit(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || is_upper(c);
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool all_of(std::string_view text, bool (*is)(char)) {
  return std::all_of(text.begin(), text.end(), is);
}

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::invalid_argument, "not an image reference: " + std::move(why));
}

bool is_digest(std::string_view text) {
  return text.starts_with(kDigestPrefix) && text.size() == kDigestPrefix.size() + kDigestHex &&
         all_of(text.substr(kDigestPrefix.size()), is_hex);
}

bool is_tag(std::string_view tag) {
  const auto is_word = [](char c) { return is_alphanumeric(c) || c == '_'; };
  const auto may_follow = [&](char c) { return is_word(c) || c == '.' || c == '-'; };
  return !tag.empty() && tag.size() <= kMostTagBytes && is_word(tag.front()) &&
         std::all_of(tag.begin(), tag.end(), may_follow);
}

bool is_port(std::string_view port) {
  return !port.empty() && port.size() <= 5 && all_of(port, is_digit);
}

bool is_host_label(std::string_view label) {
  const auto may_stand = [](char c) { return is_alphanumeric(c) || c == '-'; };
  return !label.empty() && is_alphanumeric(label.front()) && is_alphanumeric(label.back()) &&
         std::all_of(label.begin(), label.end(), may_stand);
}

bool is_host(std::string_view host) {
  if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    if (!is_port(host.substr(colon + 1))) return false;
    host = host.substr(0, colon);
  }
  for (std::size_t begin = 0; begin <= host.size();) {
    const auto end = std::min(host.find('.', begin), host.size());
    if (!is_host_label(host.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

bool is_separator(std::string_view text) {
  return text == "." || text == "_" || text == "__" || all_of(text, [](char c) { return c == '-'; });
}

// Lower-case letters and digits, with single separators of ".", "_", "__" or any number of "-" between them.
bool is_path_part(std::string_view part) {
  if (part.empty() || !is_lower_or_digit(part.front()) || !is_lower_or_digit(part.back())) return false;
  for (std::size_t at = 0; at < part.size();) {
    if (is_lower_or_digit(part[at])) {
      ++at;
      continue;
    }
    const auto next =
        std::find_if(part.begin() + static_cast<std::ptrdiff_t>(at), part.end(), is_lower_or_digit);
    const auto end = static_cast<std::size_t>(next - part.begin());
    if (!is_separator(part.substr(at, end - at))) return false;
    at = end;
  }
  return true;
}

Result<void> check_path(std::string_view path) {
  if (path.size() == kDigestHex && all_of(path, is_hex))
    return refuse("write the id of a local image as sha256:<id>");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (!is_path_part(part)) {
      return refuse("the part \"" + std::string(part) +
                    "\" of its name is not lower-case letters and digits with '.', '_' or '-' between them");
    }
    begin = end + 1;
  }
  return {};
}

bool names_a_host(std::string_view first_part) {
  return first_part.find_first_of(".:") != std::string_view::npos || first_part == "localhost";
}

Result<void> check_name(std::string_view name) {
  const auto slash = name.find('/');
  const auto first = name.substr(0, slash);
  if (slash == std::string_view::npos || !names_a_host(first)) return check_path(name);
  if (!is_host(first)) return refuse("\"" + std::string(first) + "\" is not host or host:port");
  return check_path(name.substr(slash + 1));
}

}  // namespace

Result<void> check_image_reference(std::string_view reference) {
  if (!all_of(reference, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return refuse("it holds a character that is not printable ASCII");
  }
  if (reference.find("://") != std::string_view::npos) return refuse("it is no URL; leave out the scheme");
  if (reference.starts_with('-')) return refuse("it begins with '-'");
  if (is_digest(reference)) return {};
  if (const auto at = reference.find('@'); at != std::string_view::npos) {
    if (!is_digest(reference.substr(at + 1)))
      return refuse("after '@' stands sha256: and 64 lower-case hex digits");
    reference = reference.substr(0, at);
  }
  const auto colon = reference.rfind(':');
  const auto slash = reference.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    if (!is_tag(reference.substr(colon + 1))) {
      return refuse(
          "a tag has 1 to 128 letters, digits, '_', '.' or '-', and begins with none of the last two");
    }
    reference = reference.substr(0, colon);
  }
  return check_name(reference);
}

}  // namespace mayfly

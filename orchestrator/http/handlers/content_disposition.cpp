#include "http/handlers/content_disposition.hpp"

#include <cctype>

#include "base/utf8.hpp"
#include "http/url.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kPlainBytes = 100;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (std::isalnum(byte) != 0 || c == '.' || c == '-' || c == '_');
}

}  // namespace

std::string content_disposition(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  std::string plain;
  for (const char c : name.substr(0, kPlainBytes)) plain.push_back(is_plain(c) ? c : '_');
  if (plain.starts_with('.')) plain.front() = '_';
  std::string header = "attachment; filename=\"" + plain + '"';
  if (plain != name && is_utf8(name)) header += "; filename*=UTF-8''" + percent_encode(name);
  return header;
}

}  // namespace mayfly::http

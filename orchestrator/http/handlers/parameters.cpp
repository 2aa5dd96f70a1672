#include "http/handlers/parameters.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kKeyBytes = 255;

tl::unexpected<Error> bad_key(const std::string& detail) {
  return fail(ErrorCode::invalid_argument, "Idempotency-Key: " + detail);
}

// RFC 8941 section 3.3.3: backslash takes only a quote or a backslash.
Result<std::string> unquote(std::string_view text) {
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '"') return bad_key("a quote inside of the quoted key");
    if (text[i] == '\\') {
      ++i;
      if (i + 1 >= text.size() || (text[i] != '"' && text[i] != '\\')) return bad_key("a broken escape");
    }
    result.push_back(text[i]);
  }
  return result;
}

}  // namespace

Result<TaskId> task_id_of(const Request& request) {
  auto id = parse_id<TaskId>(request.params.at("id"));
  if (!id) return fail(ErrorCode::not_found, "no such task");
  return id;
}

tl::unexpected<Error> bad_parameter(std::string_view name, std::string detail) {
  std::string message = "the query parameter '" + std::string(name) + "' " + detail;
  FieldFault fault{.pointer = "?" + std::string(name), .code = "bad_format", .detail = std::move(detail)};
  return fail(ErrorCode::invalid_argument, std::move(message), {std::move(fault)});
}

Result<bool> flag_of(const Request& request, std::string_view name) {
  const std::string* text = request.find_query(name);
  if (!text || *text == "false") return false;
  if (text->empty() || *text == "true") return true;
  return bad_parameter(name, "must be true or false");
}

Result<std::uint64_t> number_of(const Request& request, std::string_view name, std::uint64_t least,
                                std::uint64_t most, std::uint64_t otherwise) {
  const std::string* text = request.find_query(name);
  if (!text) return otherwise;
  const auto value = parse_decimal(*text);
  if (value && *value >= least && *value <= most) return *value;
  return bad_parameter(name,
                       "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
}

Result<std::optional<WallTime>> time_of(const Request& request, std::string_view name) {
  const std::string* text = request.find_query(name);
  if (!text) return std::optional<WallTime>();
  const auto time = parse_time(*text);
  if (!time) return bad_parameter(name, "must be a time such as 2026-11-30T18:40:06Z");
  return std::optional<WallTime>(*time);
}

Result<std::optional<std::string>> idempotency_key_of(const Request& request) {
  const std::string* header = request.headers.find("Idempotency-Key");
  if (!header) return std::optional<std::string>();
  std::string key = *header;
  const bool quoted = key.starts_with('"');
  if (quoted) {
    if (key.size() < 2 || !key.ends_with('"')) return bad_key("the closing quote is missing");
    auto inner = unquote(key);
    if (!inner) return fail_with(std::move(inner));
    key = std::move(*inner);
  }
  const char lowest = quoted ? ' ' : '!';
  const bool visible =
      std::all_of(key.begin(), key.end(), [lowest](char c) { return c >= lowest && c <= '~'; });
  if (key.empty() || key.size() > kKeyBytes || !visible)
    return bad_key("1 to 255 visible ASCII characters are taken");
  return std::optional<std::string>(std::move(key));
}

bool etag_matches(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == "*" || item == etag) return true;
  }
  return false;
}

}  // namespace mayfly::http

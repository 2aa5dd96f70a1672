#include "http/http_types.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>

namespace mayfly::http {
namespace {

char to_lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) {
    if (c != '\r' && c != '\n' && c != '\0') head.push_back(c);
  }
  head.append("\r\n");
}

}  // namespace

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

void Headers::set(std::string_view name, std::string value) {
  for (auto& [known, old] : fields_) {
    if (equal_without_case(known, name)) {
      old = std::move(value);
      return;
    }
  }
  add(std::string(name), std::move(value));
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [known, value] : fields_) {
    if (equal_without_case(known, name)) return &value;
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value ? std::string_view(*value) : std::string_view();
}

const std::string* Request::find_query(std::string_view name) const {
  for (const auto& [known, value] : query) {
    if (known == name) return &value;
  }
  return nullptr;
}

Response json_response(int status, std::string json_text) {
  Response response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.body = std::move(json_text);
  response.body.push_back('\n');
  return response;
}

Response empty_response(int status) {
  Response response;
  response.status = status;
  return response;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Cancelled";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

std::string format_head(const Response& response, Framing framing, std::uint64_t length, KeepAlive keep) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  head.append(reason_phrase(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) append_field(head, name, value);
  if (!response.headers.find("Cache-Control")) append_field(head, "Cache-Control", "no-store");
  append_field(head, "X-Content-Type-Options", "nosniff");
  if (framing == Framing::length) append_field(head, "Content-Length", std::to_string(length));
  if (framing == Framing::chunked) append_field(head, "Transfer-Encoding", "chunked");
  append_field(head, "Connection", keep == KeepAlive::yes ? "keep-alive" : "close");
  return head.append("\r\n");
}

std::string format_http_date(WallTime time) {
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                kDays.at(std::chrono::weekday(day).c_encoding()), static_cast<unsigned>(date.day()),
                kMonths.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

bool accepts_explicitly(const Request& request, std::string_view media_type) {
  std::string_view rest = request.headers.get("Accept");
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (equal_without_case(trimmed(item.substr(0, item.find(';'))), media_type)) return true;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

MediaType parse_media_type(std::string_view value) {
  MediaType result;
  std::size_t semicolon = value.find(';');
  result.type = lowered(trimmed(value.substr(0, semicolon)));
  while (semicolon != std::string_view::npos) {
    value.remove_prefix(semicolon + 1);
    semicolon = value.find(';');
    const std::string_view parameter = trimmed(value.substr(0, semicolon));
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos || !equal_without_case(parameter.substr(0, equals), "charset"))
      continue;
    std::string_view charset = parameter.substr(equals + 1);
    if (charset.size() >= 2 && charset.front() == '"' && charset.back() == '"') {
      charset = charset.substr(1, charset.size() - 2);
    }
    result.charset = lowered(charset);
  }
  return result;
}

}  // namespace mayfly::http

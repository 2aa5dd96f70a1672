#include "http/request_head.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace mayfly::http {
namespace {

using Step = std::optional<Problem>;  // nothing: go on

Problem bad(std::string detail) {
  return problem_from(Error{.code = ErrorCode::invalid_argument, .message = std::move(detail)});
}

Problem too_large(std::string detail) {
  return problem_from(Error{.code = ErrorCode::header_too_large, .message = std::move(detail)});
}

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_target_char(char c) {
  return !is_control(c) && c != ' ' && c != '#' && static_cast<unsigned char>(c) < 0x80;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Step read_version(std::string_view version, RequestHead& head) {
  const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
                           version[6] == '.' && is_digit(version[7]);
  if (!well_formed) return bad("the HTTP version is malformed");
  if (version[5] != '1') return make_problem(505, "http_version", "this server speaks HTTP/1.1 and HTTP/1.0");
  head.version = version[7] == '0' ? HttpVersion::http_1_0 : HttpVersion::http_1_1;
  return std::nullopt;
}

// Method, target and version with single spaces between them.
Step read_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return bad("the request line is not 'METHOD target version'");
  }
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  if (!is_token(head.method) || head.method.size() > 32) return bad("the method is malformed");
  if (!head.target.starts_with('/')) return bad("the request target must be a path that begins with '/'");
  if (!std::all_of(head.target.begin(), head.target.end(), is_target_char)) {
    return bad("the request target holds a character that must be percent-encoded");
  }
  return read_version(line.substr(last + 1), head);
}

Step read_field(std::string_view line, RequestHead& head) {
  if (head.headers.fields().size() == head_limits::kFields) return too_large("more than 100 header fields");
  if (line.size() > head_limits::kFieldBytes) return too_large("a header field is longer than 8 KiB");
  if (line.front() == ' ' || line.front() == '\t') return bad("a folded header line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header line without a colon");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!is_token(name)) return bad("a header name is malformed");
  if (!is_field_value(value)) return bad("a header value holds a control character");
  head.headers.add(std::string(name), std::string(value));
  return std::nullopt;
}

// Fields that decide how a message is read or who sends it: twice the same would be two readings.
Step check_single(const Headers& headers) {
  constexpr std::array kOnce = {"Host",          "Content-Length",  "Transfer-Encoding", "Content-Type",
                                "Authorization", "Idempotency-Key", "Last-Event-ID",     "Origin",
                                "Expect",        "Range",           "Content-Encoding",  "X-Request-Id"};
  for (const std::string_view once : kOnce) {
    const auto same = [once](const auto& field) { return equal_without_case(field.first, once); };
    if (std::count_if(headers.fields().begin(), headers.fields().end(), same) > 1) {
      return bad("the header field " + std::string(once) + " stands more than once");
    }
  }
  return std::nullopt;
}

// uri-host [":" port]: the characters of names and address literals only.
Step check_host(const Headers& headers) {
  const std::string* host = headers.find("Host");
  if (!host) return bad("the Host header field is missing");
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._~:[]%").find(c) != std::string_view::npos;
  };
  if (host->empty() || host->size() > 255 || !std::all_of(host->begin(), host->end(), allowed)) {
    return bad("the Host header field is malformed");
  }
  return std::nullopt;
}

Step read_length(const std::string& value, RequestHead& head) {
  std::uint64_t length = 0;
  const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), is_digit);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (!digits || error != std::errc()) return bad("Content-Length is not a plain decimal number below 2^64");
  head.content_length = length;
  return std::nullopt;
}

Step read_framing(RequestHead& head) {
  const std::string* length = head.headers.find("Content-Length");
  const std::string* encoding = head.headers.find("Transfer-Encoding");
  if (length && encoding) return bad("both Content-Length and Transfer-Encoding");
  if (length) return read_length(*length, head);
  if (!encoding) return std::nullopt;
  if (head.version == HttpVersion::http_1_0) return bad("Transfer-Encoding in an HTTP/1.0 request");
  if (!equal_without_case(*encoding, "chunked")) return bad("a Transfer-Encoding other than 'chunked'");
  head.is_chunked = true;
  return std::nullopt;
}

bool names_option(std::string_view list, std::string_view option) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (equal_without_case(trimmed(list.substr(0, comma)), option)) return true;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

KeepAlive wanted_keep_alive(const RequestHead& head) {
  const std::string_view connection = head.headers.get("Connection");
  if (names_option(connection, "close")) return KeepAlive::no;
  if (head.version == HttpVersion::http_1_1) return KeepAlive::yes;
  return names_option(connection, "keep-alive") ? KeepAlive::yes : KeepAlive::no;
}

Step read_all(std::string_view text, RequestHead& head) {
  const std::size_t first_end = text.find("\r\n");
  if (auto problem = read_request_line(text.substr(0, first_end), head)) return problem;
  for (std::size_t at = first_end + 2; at + 2 < text.size();) {
    const std::size_t end = text.find("\r\n", at);
    if (auto problem = read_field(text.substr(at, end - at), head)) return problem;
    at = end + 2;
  }
  if (auto problem = check_single(head.headers)) return problem;
  if (auto problem = check_host(head.headers)) return problem;
  return read_framing(head);
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_field_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; });
}

HeadScanner::Outcome HeadScanner::scan(std::string_view input) {
  for (; position_ < input.size(); ++position_) {
    if (position_ >= head_limits::kTotalBytes) return Outcome::too_large;
    if (position_ == 0 && !is_token_char(input[0])) return Outcome::malformed;  // TLS, for one
    const bool after_cr = position_ > 0 && input[position_ - 1] == '\r';
    if ((input[position_] == '\n') != after_cr) return Outcome::malformed;
    if (!after_cr) continue;
    const bool empty_line = position_ == line_start_ + 1;
    line_start_ = position_ + 1;
    if (!empty_line) continue;
    ++position_;
    return Outcome::complete;
  }
  return Outcome::need_more;
}

tl::expected<RequestHead, Problem> parse_head(std::string_view text) {
  RequestHead head;
  if (auto problem = read_all(text, head)) return tl::unexpected<Problem>(std::move(*problem));
  head.keep_alive = wanted_keep_alive(head);
  return head;
}

}  // namespace mayfly::http

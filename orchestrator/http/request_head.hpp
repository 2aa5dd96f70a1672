// Reads the head of an HTTP/1.1 request (RFC 9112), strictly: whatever two servers could read in two ways is
// refused (several Content-Length or Transfer-Encoding fields, "5,5", "chunked, identity", folded lines, bare
// CR or LF, a space before a colon). Our own instead of Beast's parser, because Beast 1.81 takes all but the
// last two of these. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/problem.hpp"

namespace mayfly::http {

namespace head_limits {
inline constexpr std::size_t kTotalBytes = 16U << 10U;
inline constexpr std::size_t kFieldBytes = 8U << 10U;
inline constexpr std::size_t kFields = 100;
}  // namespace head_limits

// Finds the end of a head in bytes that arrive piece by piece, and refuses what can never become one.
class HeadScanner {
 public:
  enum class Outcome { need_more, complete, malformed, too_large };
  // `input` is all that has come of this head, from its first byte; each call sees the same and more.
  Outcome scan(std::string_view input);
  // Length of the head with its empty line, once complete.
  std::size_t length() const { return position_; }

 private:
  std::size_t position_ = 0;  // scanned so far
  std::size_t line_start_ = 0;
};

enum class HttpVersion { http_1_0, http_1_1 };

struct RequestHead {
  std::string method;
  std::string target;  // origin form: begins with '/'
  HttpVersion version = HttpVersion::http_1_1;
  Headers headers;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  KeepAlive keep_alive = KeepAlive::yes;

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};

// `text` ends with its empty line, as the scanner found it. The problem is 400, 431 or 505.
tl::expected<RequestHead, Problem> parse_head(std::string_view text);

// Shared with the trailer section of a chunked body.
bool is_token(std::string_view text);
bool is_field_value(std::string_view text);

}  // namespace mayfly::http

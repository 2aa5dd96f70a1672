// Percent-encoding (RFC 3986) and query strings, decoded exactly once. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace mayfly::http {

// Refuses a broken escape ("%", "%4", "%zz").
Result<std::string> percent_decode(std::string_view text);
// Everything but unreserved characters (RFC 3986 section 2.3) as %XX; safe in a path segment and in a query
// value.
std::string percent_encode(std::string_view text);

// "a=1&b=x+y" in order, decoded, '+' as a space (WHATWG form encoding). At most 64 pairs; empty names are
// refused.
Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text);

// One segment of a request path, decoded once. Refused: NUL, a '/' that was hidden as %2F, "." and "..", the
// empty segment, and (unless it names a file, where Linux allows them) controls and the backslash.
enum class SegmentUse { name, file_part };
Result<std::string> decode_segment(std::string_view segment, SegmentUse use);

}  // namespace mayfly::http

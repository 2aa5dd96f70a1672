// Strict JSON (RFC 8259) for everything that comes from outside: bounded in size, depth and keys, duplicate
// keys refused, valid UTF-8 only. Pure; any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes = 4U << 20U;
  std::size_t depth = 32;
  std::size_t values = 200'000;  // members and elements in all
};

// Errors: payload_too_large (bytes), invalid_argument (all else) with the byte offset and what was expected.
// The document is checked by a SAX pass before a value is built: no recursion, memory bounded by the limits.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});
// Compact text. Bytes that are not UTF-8 become U+FFFD instead of throwing.
std::string dump_json(const Json& value);

}  // namespace mayfly

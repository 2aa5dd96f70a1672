// Base64 (RFC 4648 section 4), for bytes that must travel inside JSON. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

std::string encode_base64(std::string_view bytes);
// Strict, so that each byte string has one text: the standard alphabet, padding, no white space, no loose
// bits in the last character. Error: invalid_argument, naming the rule and the place.
Result<std::string> decode_base64(std::string_view text);

}  // namespace mayfly

// Consistent Overhead Byte Stuffing (Cheshire and Baker, 1999) with the newline as the removed byte. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly::channel {

// Appends the encoded form, which holds no newline: at most size + size / 254 + 1 bytes.
void append_cobs(std::string& out, std::string_view payload);
// Absent when `encoded` is not what append_cobs can have made.
std::optional<std::string> decode_cobs(std::string_view encoded);

}  // namespace mayfly::channel

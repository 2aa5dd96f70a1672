// UTF-8 (RFC 3629) checks and the one place where text from outside is made harmless for a terminal. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly {

// A character and how many bytes it takes; length 0 when the text does not begin with a whole valid one.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
CodePoint decode_utf8(std::string_view text);

// No overlong forms, surrogates or code points above U+10FFFF.
bool is_utf8(std::string_view text);
// Valid UTF-8 without C0, DEL, C1 and bidirectional controls (tab and newline count as controls).
bool is_plain_text(std::string_view text);
// At most `most` bytes from the front, without splitting a character.
std::string_view cut_utf8(std::string_view text, std::size_t most);

// For views only: controls, bidirectional overrides and broken bytes as \xNN or \u{N}; newline and tab are
// kept.
std::string escape_for_terminal(std::string_view text);
// The same for one line of a log or a message: newline and tab become \n and \t.
std::string escape_for_line(std::string_view text);
// A value as an error message shows it: in double quotes, escaped for a line, cut after 64 bytes.
std::string quote_for_message(std::string_view text);

}  // namespace mayfly

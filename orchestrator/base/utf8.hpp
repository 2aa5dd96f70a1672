// UTF-8 (RFC 3629) checks and the one place where text from outside is made harmless for a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// No overlong forms, surrogates or code points above U+10FFFF.
bool is_utf8(std::string_view text);
// Valid UTF-8 without C0, DEL, C1 and bidirectional controls (tab and newline count as controls).
bool is_plain_text(std::string_view text);
// For views only: controls, bidirectional overrides and broken bytes as \xNN or \u{N}; newline and tab are kept.
std::string escape_for_terminal(std::string_view text);

}  // namespace mayfly

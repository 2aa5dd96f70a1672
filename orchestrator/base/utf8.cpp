#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace mayfly {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kQuotedBytes = 64;

// What the first byte says: how many bytes follow it in all, its own bits, and the least value that needs
// that many.
struct Lead {
  std::size_t length;
  std::uint32_t bits;
  std::uint32_t least;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, byte & 0x1FU, 0x80};
  if (byte < 0xF0) return {3, byte & 0x0FU, 0x800};
  if (byte < 0xF5) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

// Length of the run of ASCII at the front, in steps of eight bytes.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t n = 0;
  for (; n + 8 <= text.size(); n += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + n, 8);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return n;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// Unicode's property Bidi_Control.
bool is_bidi_control(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

void append_byte_escape(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

void append_code_point_escape(std::string& out, char32_t c) {
  out += "\\u{";
  bool begun = false;
  for (int shift = 20; shift >= 0; shift -= 4) {
    const auto digit = (static_cast<std::uint32_t>(c) >> static_cast<unsigned>(shift)) & 15U;
    begun = begun || digit != 0 || shift == 0;
    if (begun) out += kHex[digit];
  }
  out += '}';
}

enum class Layout { keep, escape };  // what becomes of newline and tab

std::string escape(std::string_view text, Layout layout) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    const std::size_t length = next.length == 0 ? 1 : next.length;
    const auto byte = static_cast<unsigned char>(text.front());
    const bool hidden = is_control(next.value) || is_bidi_control(next.value);
    if (byte == '\n' || byte == '\t') {
      if (layout == Layout::escape) out += '\\';
      out += layout == Layout::keep ? text.front() : byte == '\n' ? 'n' : 't';
    } else if (next.length == 0 || (hidden && length == 1)) {
      append_byte_escape(out, byte);
    } else if (hidden) {
      append_code_point_escape(out, next.value);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  constexpr CodePoint kBroken{0, 0};
  if (text.empty()) return kBroken;
  const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return kBroken;
  std::uint32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return kBroken;
    value = value << 6U | (byte & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.least || surrogate || value > 0x10FFFF) return kBroken;
  return {value, lead.length};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) break;
    const CodePoint next = decode_utf8(text);
    if (next.length == 0) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    if (next.length == 0 || is_control(next.value) || is_bidi_control(next.value)) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  // At most three bytes back lies the first byte of a character that the cut would split.
  for (std::size_t back = 1; back <= 3 && back <= most; ++back) {
    const auto byte = static_cast<unsigned char>(text[most - back]);
    if ((byte & 0xC0U) == 0x80) continue;
    if (lead_of(byte).length > back) end = most - back;
    break;
  }
  return text.substr(0, end);
}

std::string escape_for_terminal(std::string_view text) {
  return escape(text, Layout::keep);
}

std::string escape_for_line(std::string_view text) {
  return escape(text, Layout::escape);
}

std::string quote_for_message(std::string_view text) {
  const std::string_view shown = cut_utf8(text, kQuotedBytes);
  return '"' + escape_for_line(shown) + (shown.size() < text.size() ? "…\"" : "\"");
}

}  // namespace mayfly

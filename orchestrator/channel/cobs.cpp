#include "channel/cobs.hpp"

#include <cstring>

namespace mayfly::channel {
namespace {

// Standard COBS removes 0x00. A length code (1..255) is written XOR 0x0A, so that no code is a newline; the
// bytes between codes are copied as they are, which memchr and memcpy do at the speed of memory.
constexpr unsigned char kRemoved = '\n';
constexpr std::size_t kBlock = 254;

char code_byte(std::size_t code) {
  return static_cast<char>(static_cast<unsigned char>(code) ^ kRemoved);
}

}  // namespace

void append_cobs(std::string& out, std::string_view payload) {
  for (;;) {
    const std::string_view window = payload.substr(0, kBlock);
    const void* found = window.empty() ? nullptr : std::memchr(window.data(), kRemoved, window.size());
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - window.data());
      out.push_back(code_byte(length + 1));
      out.append(window.data(), length);
      payload.remove_prefix(length + 1);
    } else if (window.size() == kBlock) {
      out.push_back(code_byte(kBlock + 1));
      out.append(window);
      payload.remove_prefix(kBlock);
      if (payload.empty()) return;
    } else {
      out.push_back(code_byte(window.size() + 1));
      out.append(window);
      return;
    }
  }
}

std::optional<std::string> decode_cobs(std::string_view encoded) {
  std::string out;
  out.reserve(encoded.size());
  while (!encoded.empty()) {
    const auto code = static_cast<std::size_t>(static_cast<unsigned char>(encoded.front()) ^ kRemoved);
    if (code == 0 || code > encoded.size()) return std::nullopt;
    out.append(encoded.data() + 1, code - 1);
    encoded.remove_prefix(code);
    if (code <= kBlock && !encoded.empty()) out.push_back(static_cast<char>(kRemoved));
  }
  return out;
}

}  // namespace mayfly::channel

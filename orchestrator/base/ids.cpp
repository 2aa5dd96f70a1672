#include "base/ids.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <system_error>

namespace mayfly {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";  // Crockford: no i, l, o, u
constexpr std::size_t kTextLength = 26;

void fill_random(unsigned char* out, std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    const ssize_t got = getrandom(out + done, n - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    done += static_cast<std::size_t>(got);
  }
}

// Time of the next id in units of 1/4096 ms: 48 bits of milliseconds and 12 bits below, as RFC 9562
// section 6.2 (method 3) describes; never twice the same in one process, also when the clock stands still or
// jumps back.
std::uint64_t next_tick() {
  static std::mutex mutex;
  static std::uint64_t last = 0;
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const std::uint64_t micros = static_cast<std::uint64_t>(now);
  const std::uint64_t tick = (micros / 1000) << 12U | ((micros % 1000) * 4096 / 1000);
  const std::lock_guard lock(mutex);
  last = tick > last ? tick : last + 1;
  return last;
}

}  // namespace

std::string make_uuid7_base32() {
  std::array<unsigned char, 16> bytes{};
  fill_random(bytes.data() + 8, 8);
  const std::uint64_t tick = next_tick();
  const std::uint64_t millis = tick >> 12U;
  for (unsigned i = 0; i < 6; ++i) bytes[i] = static_cast<unsigned char>(millis >> (40U - 8U * i));
  bytes[6] = static_cast<unsigned char>(0x70U | ((tick >> 8U) & 0x0FU));
  bytes[7] = static_cast<unsigned char>(tick & 0xFFU);
  bytes[8] = static_cast<unsigned char>(0x80U | (bytes[8] & 0x3FU));
  std::string text;
  text.reserve(kTextLength);
  unsigned buffer = 0;
  unsigned bits = 2;  // 128 bits are 25.6 characters: two zero bits stand in front
  for (const unsigned char byte : bytes) {
    buffer = buffer << 8U | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text.push_back(kAlphabet[(buffer >> bits) & 31U]);
    }
    buffer &= (1U << bits) - 1U;
  }
  return text;
}

std::string make_random_hex(std::size_t n) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string bytes(n, '\0');
  fill_random(reinterpret_cast<unsigned char*>(bytes.data()), n);
  std::string text;
  text.reserve(2 * n);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kHex[byte >> 4U]);
    text.push_back(kHex[byte & 15U]);
  }
  return text;
}

bool is_id_text(std::string_view prefix, std::string_view text) {
  if (text.size() != prefix.size() + kTextLength || text.substr(0, prefix.size()) != prefix) return false;
  return text.substr(prefix.size()).find_first_not_of(kAlphabet) == std::string_view::npos;
}

}  // namespace mayfly

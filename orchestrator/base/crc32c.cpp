#include "base/crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace mayfly {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41, reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Slicing by eight (Kounavis and Berry): table k holds what a byte contributes with k bytes behind it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8U ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t byte_at(const std::byte* data, std::size_t i) {
  return std::to_integer<std::uint32_t>(data[i]);
}

std::uint32_t add_eight(const std::byte* data, std::uint32_t crc) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum ^= kTables[7 - i][(byte_at(data, i) ^ crc >> (8 * i)) & 0xFFU] ^ kTables[3 - i][byte_at(data, i + 4)];
  }
  return sum;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::span<const std::byte> data,
                                                                      std::uint32_t crc) {
  const std::byte* at = data.data();
  std::size_t left = data.size();
  std::uint64_t sum = ~crc;
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    sum = _mm_crc32_u64(sum, word);
  }
  auto tail = static_cast<std::uint32_t>(sum);
  for (; left > 0; ++at, --left) tail = _mm_crc32_u8(tail, std::to_integer<unsigned char>(*at));
  return ~tail;
}
#endif

using Function = std::uint32_t (*)(std::span<const std::byte>, std::uint32_t);

Function choose() {
#ifdef __x86_64__
  __builtin_cpu_init();  // a static constructor may come before libgcc's own
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction;
#endif
  return crc32c_by_tables;
}

}  // namespace

std::uint32_t crc32c_by_tables(std::span<const std::byte> data, std::uint32_t crc) {
  const std::byte* at = data.data();
  std::size_t left = data.size();
  crc = ~crc;
  for (; left >= 8; at += 8, left -= 8) crc = add_eight(at, crc);
  for (; left > 0; ++at, --left) crc = crc >> 8U ^ kTables[0][(crc ^ byte_at(at, 0)) & 0xFFU];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc) {
  static const Function function = choose();
  return function(data, crc);
}

}  // namespace mayfly

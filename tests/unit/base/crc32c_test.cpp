#include "base/crc32c.hpp"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

namespace mayfly {
namespace {

using Function = std::uint32_t (*)(std::span<const std::byte>, std::uint32_t);

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Not random, but without a pattern that a wrong table would hide.
std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> data(size);
  std::uint32_t state = 1;
  for (auto& byte : data) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return data;
}

TEST_CASE("both ways to compute CRC-32C give the values of RFC 3720 appendix B.4") {
  const Function function = GENERATE(static_cast<Function>(crc32c), static_cast<Function>(crc32c_by_tables));
  CHECK(function(std::vector<std::byte>(32, std::byte{0}), 0) == 0x8A9136AAU);
  CHECK(function(std::vector<std::byte>(32, std::byte{0xFF}), 0) == 0x62A8AB43U);
  std::vector<std::byte> rising(32);
  std::vector<std::byte> falling(32);
  for (unsigned i = 0; i < 32; ++i) {
    rising[i] = static_cast<std::byte>(i);
    falling[i] = static_cast<std::byte>(31 - i);
  }
  CHECK(function(rising, 0) == 0x46DD794EU);
  CHECK(function(falling, 0) == 0x113FDB5CU);
  // An iSCSI SCSI Read (10) Command PDU.
  const std::vector<unsigned> pdu = {0x01, 0xC0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                     0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                     0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
  std::vector<std::byte> command;
  command.reserve(pdu.size());
  for (const unsigned value : pdu) command.push_back(static_cast<std::byte>(value));
  REQUIRE(command.size() == 48);
  CHECK(function(command, 0) == 0xD9963A56U);
  CHECK(function(bytes_of("123456789"), 0) == 0xE3069283U);
  CHECK(function({}, 0) == 0U);
}

TEST_CASE("both ways to compute CRC-32C agree for every length and alignment") {
  const auto data = noise(300);
  for (std::size_t offset = 0; offset < 9; ++offset) {
    for (std::size_t size = 0; size + offset <= data.size(); ++size) {
      const auto piece = std::span(data).subspan(offset, size);
      REQUIRE(crc32c(piece) == crc32c_by_tables(piece));
    }
  }
}

TEST_CASE("CRC-32C continues over pieces") {
  const auto data = noise(1000);
  const Function function = GENERATE(static_cast<Function>(crc32c), static_cast<Function>(crc32c_by_tables));
  const std::uint32_t whole = function(data, 0);
  for (std::size_t cut = 0; cut <= data.size(); cut += 37) {
    const auto front = std::span<const std::byte>(data).first(cut);
    const auto back = std::span<const std::byte>(data).subspan(cut);
    REQUIRE(function(back, function(front, 0)) == whole);
  }
}

TEST_CASE("CRC-32C notices every flipped bit of a record") {
  auto data = noise(64);
  const std::uint32_t right = crc32c(data);
  for (std::size_t bit = 0; bit < data.size() * 8; ++bit) {
    data[bit / 8] ^= std::byte{1} << (bit % 8);
    REQUIRE(crc32c(data) != right);
    data[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

}  // namespace
}  // namespace mayfly

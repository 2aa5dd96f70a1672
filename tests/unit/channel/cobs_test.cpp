#include "channel/cobs.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace mayfly::channel;

namespace {

std::string encode(std::string_view payload) {
  std::string out;
  append_cobs(out, payload);
  return out;
}

}  // namespace

TEST_CASE("COBS round trips every length around its block borders and never emits a newline") {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 2, 253, 254, 255, 507, 508, 509, 762, 4096, 49152}) {
    for (const int newline_every : {1, 2, 200, 254, 255, 100'000}) {
      std::string payload(size, 'x');
      for (std::size_t i = 0; i < size; ++i) {
        const bool newline = (i + 1) % static_cast<std::size_t>(newline_every) == 0;
        payload[i] = newline ? '\n' : static_cast<char>(random());
      }
      const std::string encoded = encode(payload);
      CAPTURE(size, newline_every);
      REQUIRE(encoded.find('\n') == std::string::npos);
      REQUIRE(encoded.size() <= size + size / 254 + 1);
      REQUIRE(decode_cobs(encoded) == payload);
    }
  }
}

TEST_CASE("COBS refuses a code that points beyond the end") {
  std::string encoded = encode("some payload");
  REQUIRE(decode_cobs(encoded.substr(0, encoded.size() - 1)) == std::nullopt);
  REQUIRE(decode_cobs("\n") == std::nullopt);  // a zero code
}

#include "base/digest.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <utility>

namespace mayfly {
namespace {

TEST_CASE("SHA-256 gives the values of FIPS 180-4") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("incremental SHA-256 equals the whole wherever the text is cut") {
  const std::string text(200, 'x');
  for (std::size_t cut = 0; cut <= text.size(); cut += 13) {
    Sha256 sum;
    sum.update(std::string_view(text).substr(0, cut));
    sum.update(std::as_bytes(std::span(text)).subspan(cut));
    CHECK(sum.hex() == sha256_hex(text));
  }
}

TEST_CASE("SHA-256 of a million letters") {
  const std::string piece(1000, 'a');
  Sha256 sum;
  for (int i = 0; i < 1000; ++i) sum.update(piece);
  CHECK(sum.hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a SHA-256 moves with what it has read and ends with hex") {
  Sha256 sum;
  sum.update("ab");
  Sha256 moved = std::move(sum);
  moved.update("c");
  CHECK(moved.hex() == sha256_hex("abc"));
  CHECK_THROWS_AS(moved.update("d"), std::logic_error);
  CHECK_THROWS_AS(moved.hex(), std::logic_error);
}

TEST_CASE("HMAC-SHA-256 gives the values of RFC 4231") {
  CHECK(hmac_sha256_hex(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac_sha256_hex("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_sha256_hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac_sha256_hex("", "") == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST_CASE("equal_in_constant_time compares length and content") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("token", "token"));
  CHECK_FALSE(equal_in_constant_time("token", "tokem"));
  CHECK_FALSE(equal_in_constant_time("token", "toke"));
  CHECK_FALSE(equal_in_constant_time("", "x"));
  CHECK_FALSE(equal_in_constant_time(std::string("a\0b", 3), std::string("a\0c", 3)));
}

}  // namespace
}  // namespace mayfly

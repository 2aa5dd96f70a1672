#include "task/base64.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;

TEST_CASE("base64 agrees with the test vectors of RFC 4648") {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xff\xfe\xfb", "//77"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(encode_base64(bytes) == text);
    CHECK(decode_base64(text).value() == bytes);
  }
}

TEST_CASE("base64 gives every byte back at every length") {
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    CHECK(decode_base64(encode_base64(bytes)).value() == bytes);
    bytes.push_back(static_cast<char>(i * 7));
  }
}

TEST_CASE("base64 that is not strict is refused") {
  const std::string wrong[] = {"Zg",   "Zg=",      "Z===", "====",  "Zg==\n", "Zm9v Zg==", "Zh==",
                               "Zm9=", "Zg==Zg==", "-_8=", "Zm\0v", "=Zg=",   "Zm9v====",  "Zm9vé==="};
  for (const auto& text : wrong) {
    INFO(text);
    const auto decoded = decode_base64(text);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == ErrorCode::invalid_argument);
  }
}

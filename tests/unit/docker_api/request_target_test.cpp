#include "docker_api/request_target.hpp"

#include <catch2/catch.hpp>

namespace mayfly::docker {
namespace {

TEST_CASE("V07 only names that an engine object can have come through") {
  for (const char* good : {"a", "mayfly-sbx_01h", "0123456789abcdef", "A.b_c-d"})
    CHECK(check_object_name(good));
  for (const char* bad : {"", ".", "..", "%2e%2e", "a/b", "a/../b", "a\\b", "a;b", "a b", "-a", "_a", ".a",
                          "a?b", "a#b", "a%00", "\xc3\xa4", "a\nb"}) {
    CAPTURE(bad);
    REQUIRE_FALSE(check_object_name(bad));
    CHECK(check_object_name(bad).error().code == ErrorCode::invalid_argument);
  }
  CHECK_FALSE(check_object_name(std::string_view("a\0b", 3)));
  CHECK(check_object_name(std::string(255, 'a')));
  CHECK_FALSE(check_object_name(std::string(256, 'a')));
}

TEST_CASE("V07 only image references come through") {
  for (const char* good :
       {"debian", "debian:12", "library/debian", "127.0.0.1:5000/a/b:1.2-x", "sha256:abc", "a/b@sha256:0123"})
    CHECK(check_image_reference(good));
  for (const char* bad :
       {"", "/", "a/", "/a", "a//b", "../a", "a/../b", "a:", "a@", "a b", "a?b", "%2e", "a/./b"}) {
    CAPTURE(bad);
    CHECK_FALSE(check_image_reference(bad));
  }
  CHECK_FALSE(check_image_reference(std::string(513, 'a')));
}

TEST_CASE("V07 every byte but an unreserved one is percent-encoded") {
  CHECK(percent_encode("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encode("a/b c%&=?#+") == "a%2Fb%20c%25%26%3D%3F%23%2B");
  CHECK(percent_encode(std::string_view("\0\r\n\xff", 4)) == "%00%0D%0A%FF");
}

TEST_CASE("query values cannot add another value") {
  CHECK(with_query("/x", {}) == "/x");
  CHECK(with_query("/x", {{"a", "1&b=2"}, {"c", ""}}) == "/x?a=1%26b%3D2&c=");
}

TEST_CASE("a label filter is JSON whatever the label holds") {
  CHECK(label_filter("k=v") == R"({"label":["k=v"]})");
  CHECK(label_filter("k=\"],\"x\":[\"") == R"({"label":["k=\"],\"x\":[\""]})");
}

}  // namespace
}  // namespace mayfly::docker

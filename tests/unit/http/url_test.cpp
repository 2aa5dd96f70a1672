#include "http/url.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::http;

TEST_CASE("percent escapes are decoded once") {
  CHECK(percent_decode("a%20b%2Fc").value() == "a b/c");
  CHECK(percent_decode("%252e").value() == "%2e");
  for (const char* text : {"%", "%4", "%zz", "a%2", "%%41"}) CHECK_FALSE(percent_decode(text));
}

TEST_CASE("what percent_encode makes is read back") {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  CHECK(percent_decode(percent_encode(all)).value() == all);
  CHECK(percent_encode("a-b_c.d~/") == "a-b_c.d~%2F");
}

TEST_CASE("a query is read in order with form decoding") {
  const auto query = parse_query("a=1&b=x+y%2B&a=2&flag&e=");
  REQUIRE(query);
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"a", "1"}, {"b", "x y+"}, {"a", "2"}, {"flag", ""}, {"e", ""}};
  CHECK(*query == wanted);
  CHECK_FALSE(parse_query("=x"));
  CHECK_FALSE(parse_query("a=%g0"));
  std::string many = "a=1";
  for (int i = 0; i < 64; ++i) many += "&a=1";
  CHECK_FALSE(parse_query(many));
}

TEST_CASE("V07 segments that could lead elsewhere are refused") {
  for (const char* text :
       {"", ".", "..", "%2e%2e", "%2E", "a%2fb", "%2F", "a%00", "%5c", "a\\b", "%0a", "%7f"}) {
    INFO(text);
    CHECK_FALSE(decode_segment(text, SegmentUse::name));
  }
  for (const char* text : {"", ".", "%2e%2e", "a%2fb", "a%00"}) {
    INFO(text);
    CHECK_FALSE(decode_segment(text, SegmentUse::file_part));
  }
  CHECK(decode_segment("a%5Cb%0A", SegmentUse::file_part).value() == "a\\b\n");
  CHECK(decode_segment("a;b", SegmentUse::name).value() == "a;b");
}

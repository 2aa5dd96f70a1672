#include "base/json.hpp"

#include <catch2/catch.hpp>

#include "base/utf8.hpp"

namespace mayfly {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string message_for(std::string_view text, const JsonLimits& limits = {}) {
  const auto value = parse_json(text, limits);
  return value ? "accepted" : value.error().message;
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

std::string nested_arrays(std::size_t depth) {
  return repeated("[", depth) + repeated("]", depth);
}

TEST_CASE("V02 parse_json bounds the depth without recursion") {
  CHECK(parse_json(nested_arrays(32)));
  CHECK_THAT(message_for(nested_arrays(33)), Contains("byte 33") && Contains("deeper than 32"));
  CHECK(parse_json("[[1]]", {.depth = 2}));
  CHECK_FALSE(parse_json("[[[]]]", {.depth = 2}));
  CHECK(parse_json("7", {.depth = 0}));
  CHECK_FALSE(parse_json("[]", {.depth = 0}));
  CHECK_THAT(message_for(repeated("[", 100'000)), Contains("byte 33"));
  CHECK_THAT(message_for(repeated("{\"a\":", 100'000)), Contains("deeper than 32"));
  CHECK(parse_json("[" + repeated("[[]],", 1000) + "0]"));
}

TEST_CASE("V02 parse_json bounds the number of members and elements") {
  CHECK(parse_json("[1,2,3]", {.values = 3}));
  CHECK_THAT(message_for("[1,2,3,4]", {.values = 3}), Contains("more than 3 members and elements"));
  CHECK(parse_json(R"({"a":[1],"b":2})", {.values = 3}));
  CHECK_FALSE(parse_json(R"({"a":[1],"b":{"c":2}})", {.values = 3}));
  CHECK(parse_json("1", {.values = 0}));
  CHECK(parse_json("[" + repeated("0,", 199'999) + "0]"));
  CHECK_FALSE(parse_json("[" + repeated("0,", 200'000) + "0]"));
}

TEST_CASE("V02 parse_json bounds the size before it looks inside") {
  CHECK(parse_json("[1]", {.bytes = 3}));
  const auto value = parse_json("[10]", {.bytes = 3});
  REQUIRE_FALSE(value);
  CHECK(value.error().code == ErrorCode::payload_too_large);
  CHECK_THAT(value.error().message, Contains("4 bytes") && Contains("3 bytes"));
}

TEST_CASE("V02 a key that stands twice is named with its place") {
  CHECK_THAT(message_for(R"({"image":"a","image":"b"})"),
             StartsWith("invalid JSON at byte 20 ") && Contains("\"image\""));
  CHECK_THAT(message_for("{\"x\":1,\n\"x\":2}"), Contains("byte 11 (line 2)"));
  CHECK_THAT(message_for(R"({"a\u001b":1,"a\u001b":2})"), Contains("\"a\\x1b\""));
  CHECK(parse_json(R"({"Image":1,"image":2})"));  // another key: the reader of the spec refuses it as unknown
}

TEST_CASE("V02 integers beyond 64 bits are refused and not rounded") {
  CHECK(parse_json("9223372036854775808")->is_number_unsigned());
  CHECK_THAT(message_for("[18446744073709551616]"), Contains("64 bits"));
  CHECK_THAT(message_for("[-9223372036854775809]"), Contains("64 bits"));
  CHECK_THAT(message_for(repeated("9", 100'000)), Contains("too large"));
}

TEST_CASE("V02 numbers beyond a double are refused") {
  CHECK_THAT(message_for("[1e400]"), Contains("too large"));
  CHECK_THAT(message_for("[-1e400]"), Contains("too large"));
  CHECK_THAT(message_for("[NaN]"), Contains("byte 2"));
}

TEST_CASE("parse_json says where and what and what it expected") {
  CHECK_THAT(message_for("{\"a\" 1}"), Contains("byte 6") && Contains("expected ':'"));
  CHECK_THAT(message_for("[1,\n2,\n3 4]"), Contains("byte 10 (line 3)"));
  CHECK_THAT(message_for("[1"), Contains("byte 2") && Contains("unexpected end of input"));
  CHECK_THAT(message_for("[\"\xFF\"]"), Contains("byte 3") && Contains("ill-formed UTF-8"));
  CHECK_THAT(message_for(std::string("{}\0x", 4)), Contains("byte 2") && Contains("zero byte"));
}

TEST_CASE("an error of parse_json never repeats a value of the text") {
  for (const auto* const text :
       {"{\"password\":\"hunter2\" x}", "[\"hunter2\n\"]", "[\"hunter2\\q\"]", "hunter2", "[hunter2]",
        "[\"hunter2 - hunter2; last read: hunter2; expected hunter2\x01\"]", "{\"a\":\"hunter2"}) {
    CAPTURE(text);
    CHECK_THAT(message_for(text), StartsWith("invalid JSON") && !Contains("hunter2"));
    CHECK_THAT(message_for(text), !Contains("last read"));
  }
}

TEST_CASE("an error of parse_json is always plain text") {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    text.assign(1, static_cast<char>(byte));
    const std::string member = "\"a" + text + "\":1";
    std::string twice = "{";
    twice.append(member).append(",").append(member).append("}");
    for (const std::string& candidate : {text, "[" + text, "\"" + text, twice}) {
      const std::string message = message_for(candidate);
      CAPTURE(candidate, message);
      REQUIRE(is_plain_text(message));
    }
  }
}

TEST_CASE("dump_json is compact and replaces what is not UTF-8") {
  CHECK(dump_json(Json{{"a", {1, 2.5, "x", nullptr, true}}}) == R"({"a":[1,2.5,"x",null,true]})");
  CHECK(dump_json(Json("a\xFF\xC3")) == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(dump_json(Json("a\n\x1B\"")) == R"("a\n\u001b\"")");
  CHECK(dump_json(Json(std::string("\0", 1))) == R"("\u0000")");
  CHECK(parse_json(dump_json(Json("\xED\xA0\x80"))));
}

}  // namespace
}  // namespace mayfly

// V01, the first half: texts that the grammar of RFC 8259 derives. Ordered as its sections are.
#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace mayfly {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view what;
  std::string_view text;
};

// Section 2: any value may be the whole text, and whitespace may stand around every token.
const std::vector<Case> kTexts = {
    {"an object", "{}"},
    {"an array", "[]"},
    {"a string", "\"asd\""},
    {"an empty string", "\"\""},
    {"a number", "42"},
    {"a negative number", "-0.1"},
    {"true", "true"},
    {"false", "false"},
    {"null", "null"},
    {"a final newline", "[\"a\"]\n"},
    {"leading spaces", "    []"},
    {"trailing spaces", "[1] \t\r\n "},
    {"whitespace around all tokens", " [ 1 ,\t2 ,\r\n{ \"a\" : null } ] "},
    {"spaces in an empty array", "[   ]"},
    {"newlines in an empty object", "{\n\n}"},
    {"no whitespace at all", "{\"a\":[1,2,{\"b\":null}],\"c\":true}"},
    {"a byte order mark, which section 8.1 allows a parser to ignore", "\xEF\xBB\xBF{}"},
};

// Sections 4 and 5.
const std::vector<Case> kContainers = {
    {"one member", R"({"a":1})"},
    {"two members", R"({"asd":"sdf", "dfg":"fgh"})"},
    {"an empty key", R"({"":0})"},
    {"an escaped key", R"({"foo\u0000bar": 42})"},
    {"a key of another script", R"({"日本":"ключ"})"},
    {"keys that differ in case", R"({"a":1,"A":2})"},
    {"one key in two objects", R"([{"a":1},{"a":2}])"},
    {"one key in an object and in the object within it", R"({"a":{"a":{"a":1}}})"},
    {"long keys and values",
     R"({"min": -1.0e+28, "max": 1.0e+28, "id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})"},
    {"an array of all kinds", R"([null, 1, "1", {}, [], true, false, 1.5])"},
    {"arrays in arrays", "[[[[[]]],[]]]"},
    {"an array with an empty string", R"([""])"},
    {"an object in an array in an object", R"({"x":[{"y":[{"z":[]}]}]})"},
    {"several nulls", "[1,null,null,null,2]"},
    {"an array ended after a newline", "[1\n]"},
};

// Section 6.
const std::vector<Case> kNumbers = {
    {"zero", "[0]"},
    {"minus zero", "[-0]"},
    {"a real minus zero", "[-0.0]"},
    {"an exponent of zero", "[0e+1]"},
    {"zero to the first", "[0e1]"},
    {"an integer", "[123]"},
    {"a negative integer", "[-123]"},
    {"a fraction", "[123.456789]"},
    {"a fraction with zeros behind", "[1.000000]"},
    {"a small e", "[123e65]"},
    {"a capital e", "[1E22]"},
    {"a positive exponent", "[1E+2]"},
    {"a negative exponent", "[1E-2]"},
    {"a fraction and an exponent", "[123.456e78]"},
    {"an exponent with leading zeros", "[1e007]"},
    {"close to zero", "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]"},
    {"below the least double, which becomes zero", "[1e-400]"},
    {"the largest double", "[1.7976931348623157e308]"},
    {"many digits", "[0.1234567890123456789012345678901234567890123456789012345678901234567890]"},
    {"the least 64-bit integer", "[-9223372036854775808]"},
    {"2 to the 63rd", "[9223372036854775808]"},
    {"the largest unsigned 64-bit integer", "[18446744073709551615]"},
    {"a number before a comma", "[1,2]"},
    {"a number before a space", "[1 ]"},
};

// Section 7.
const std::vector<Case> kStrings = {
    {"all short escapes", R"(["\"\\\/\b\f\n\r\t"])"},
    {"an escaped zero", R"(["\u0000"])"},
    {"an escaped control", R"(["\u0012"])"},
    {"an escaped ASCII letter", R"(["\u0041\u005C\u0022"])"},
    {"lower-case hex", R"(["\u00e9\uabcd"])"},
    {"upper-case hex", R"(["\u00E9\uABCD"])"},
    {"an escaped surrogate pair", R"(["\uD83D\uDE00"])"},
    {"two escaped surrogate pairs", R"(["\ud83d\ude39\ud83d\udc8d"])"},
    {"the last code point, escaped", R"(["\uDBFF\uDFFF"])"},
    {"an escaped noncharacter", R"(["\uFFFE\uFFFF\uFDD0"])"},
    {"an escaped reverse solidus before u", R"(["\\u0041"])"},
    {"two reverse solidi before a quote", R"(["\\"])"},
    {"an escaped zero-width space", R"(["\u200B\u2064"])"},
    {"DEL, which needs no escape", "[\"a\x7F\"]"},
    {"a comment that is a string", R"(["a/*b*/c/*d//e"])"},
    {"two bytes a character", "[\"é\"]"},
    {"three bytes a character", "[\"€\xE2\x80\xA8\xE2\x80\xA9\"]"},
    {"four bytes a character", "[\"😀\xF4\x8F\xBF\xBF\"]"},
    {"a byte order mark within a string", "[\"\xEF\xBB\xBF\"]"},
    {"brackets in a string", R"(["]}[{,:"])"},
    {"a plain text", R"(["asd "])"},
};

void check_accepted(const std::vector<Case>& cases) {
  for (const auto& [what, text] : cases) {
    INFO(what << ": " << text);
    const auto value = parse_json(text);
    CHECK(value);
    if (!value) UNSCOPED_INFO(value.error().message);
    if (value) CHECK(parse_json(dump_json(*value)) == *value);
  }
}

TEST_CASE("V01 parse_json accepts every kind of text and whitespace") {
  check_accepted(kTexts);
}
TEST_CASE("V01 parse_json accepts objects and arrays") {
  check_accepted(kContainers);
}
TEST_CASE("V01 parse_json accepts every form of number") {
  check_accepted(kNumbers);
}
TEST_CASE("V01 parse_json accepts every form of string") {
  check_accepted(kStrings);
}

TEST_CASE("parse_json yields the value that the text says") {
  CHECK(*parse_json(R"({"a":[1,-2,2.5,"x",true,null]})") == Json{{"a", {1, -2, 2.5, "x", true, nullptr}}});
  CHECK(parse_json(R"("\u00e9\ud83d\ude00\u0000!")")->get<std::string>() == "é😀\0!"sv);
  CHECK(parse_json("9223372036854775808")->get<std::uint64_t>() == 9223372036854775808U);
  CHECK(parse_json("18446744073709551615")->get<std::uint64_t>() == 18446744073709551615U);
  CHECK(parse_json("-9223372036854775808")->get<std::int64_t>() == INT64_MIN);
  CHECK(parse_json("64")->is_number_integer());
  CHECK_FALSE(parse_json("64.0")->is_number_integer());
  CHECK_FALSE(parse_json("1e3")->is_number_integer());
}

}  // namespace
}  // namespace mayfly

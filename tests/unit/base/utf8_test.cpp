#include "base/utf8.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

namespace mayfly {
namespace {

using namespace std::string_view_literals;

// Byte by byte: as literals they would mislead whoever reads this page.
constexpr std::array kOverrideBytes = {'\xE2', '\x80', '\xAE'};  // U+202E
constexpr std::array kIsolateBytes = {'\xE2', '\x81', '\xA6'};   // U+2066
constexpr std::string_view kOverride(kOverrideBytes.data(), kOverrideBytes.size());
constexpr std::string_view kIsolate(kIsolateBytes.data(), kIsolateBytes.size());

const std::vector<std::string_view> kBroken = {
    "\x80"sv,
    "\xBF"sv,
    "\xC0\x80"sv,
    "\xC1\xBF"sv,
    "\xC2"sv,
    "\xC2\x41"sv,
    "\xE0\x80\x80"sv,
    "\xE0\x9F\xBF"sv,
    "\xE2\x82"sv,
    "\xED\xA0\x80"sv,
    "\xED\xBF\xBF"sv,
    "\xF0\x80\x80\x80"sv,
    "\xF0\x8F\xBF\xBF"sv,
    "\xF4\x90\x80\x80"sv,
    "\xF5\x80\x80\x80"sv,
    "\xF8\x88\x80\x80\x80"sv,
    "\xFE"sv,
    "\xFF"sv,
    "\xF0\x9F\x98"sv,
    "\xE2\x28\xA1"sv,
};

TEST_CASE("is_utf8 accepts every kind of character of RFC 3629") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain ASCII that is longer than eight bytes"));
  CHECK(is_utf8("\0 and more"sv));
  CHECK(is_utf8("é € 😀"));
  CHECK(is_utf8(
      "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
}

TEST_CASE("is_utf8 refuses overlong forms and surrogates and cut characters wherever they stand") {
  for (const auto broken : kBroken) {
    for (std::size_t before = 0; before < 18; ++before) {
      const std::string text = std::string(before, 'a') + std::string(broken);
      CAPTURE(before, broken);
      REQUIRE_FALSE(is_utf8(text));
      REQUIRE_FALSE(is_utf8(text + "tail of the text"));
    }
  }
}

TEST_CASE("decode_utf8 tells the character and its length") {
  const auto length_and_value = [](std::string_view text) {
    const CodePoint c = decode_utf8(text);
    return std::pair(c.length, static_cast<unsigned>(c.value));
  };
  CHECK(length_and_value("a€") == std::pair(std::size_t{1}, 0x61U));
  CHECK(length_and_value("é!") == std::pair(std::size_t{2}, 0xE9U));
  CHECK(length_and_value("€") == std::pair(std::size_t{3}, 0x20ACU));
  CHECK(length_and_value("😀") == std::pair(std::size_t{4}, 0x1F600U));
  CHECK(length_and_value("").first == 0);
  for (const auto broken : kBroken) CHECK(length_and_value(broken).first == 0);
}

TEST_CASE("is_plain_text refuses every control and bidirectional override") {
  CHECK(is_plain_text(""));
  CHECK(is_plain_text("naïve – 日本語 😀"));
  for (const auto text : {"a\nb"sv, "a\tb"sv, "\0"sv, "\x1B[31m"sv, "\x7F"sv, "\xC2\x85"sv, "\xC2\x9B"sv,
                          kOverride, kIsolate, "\xD8\x9C"sv, "\xE2\x80\x8E"sv, "\xFF"sv, "\r"sv}) {
    CAPTURE(text);
    CHECK_FALSE(is_plain_text(text));
  }
}

TEST_CASE("escape_for_terminal leaves no control sequence and keeps newline and tab") {
  CHECK(escape_for_terminal("plain é 😀\n\tx") == "plain é 😀\n\tx");
  CHECK(escape_for_terminal("\x1B]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(escape_for_terminal("\r\x7F\0"sv) == "\\x0d\\x7f\\x00");
  CHECK(escape_for_terminal("\xC2\x9B") == "\\u{9b}");
  CHECK(escape_for_terminal(std::string("a").append(kOverride).append("b")) == "a\\u{202e}b");
  CHECK(escape_for_terminal("\xFF\xC3") == "\\xff\\xc3");
  CHECK(escape_for_terminal("\xE2\x82!") == "\\xe2\\x82!");
}

TEST_CASE("what escape_for_line returns is plain text for any bytes") {
  CHECK(escape_for_line("a\nb\tc") == "a\\nb\\tc");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  CHECK(is_plain_text(escape_for_line(all)));
  for (const auto broken : kBroken) CHECK(is_plain_text(escape_for_line(broken)));
}

TEST_CASE("cut_utf8 never splits a character") {
  CHECK(cut_utf8("abc", 3) == "abc");
  CHECK(cut_utf8("abcd", 3) == "abc");
  CHECK(cut_utf8("aé", 2) == "a");
  CHECK(cut_utf8("aéb", 3) == "aé");
  CHECK(cut_utf8("€uro", 2).empty());
  CHECK(cut_utf8("😀😀", 7) == "😀");
  CHECK(cut_utf8("abc", 0).empty());
  CHECK(cut_utf8("\x80\x80\x80\x80\x80", 4).size() == 4);
}

TEST_CASE("quote_for_message shows a short escaped value") {
  CHECK(quote_for_message("512MB") == "\"512MB\"");
  CHECK(quote_for_message("a\n\x1B") == "\"a\\n\\x1b\"");
  CHECK(quote_for_message(std::string(1000, 'x')) == '"' + std::string(64, 'x') + "…\"");
}

}  // namespace
}  // namespace mayfly

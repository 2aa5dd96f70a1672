#include "http/chunked_decoder.hpp"

#include <catch2/catch.hpp>

using mayfly::http::ChunkedDecoder;
using Outcome = ChunkedDecoder::Outcome;

namespace {

struct Decoded {
  Outcome outcome;
  std::string body;
  std::string rest;
};

// Feeds the text in steps of `step` bytes, as a network would.
Decoded decode(std::string_view text, std::size_t step, std::uint64_t limit = 1000) {
  ChunkedDecoder decoder(limit);
  Decoded result{.outcome = Outcome::need_more, .body = "", .rest = ""};
  while (!text.empty() && result.outcome == Outcome::need_more) {
    result.rest += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    const auto fed = decoder.feed(result.rest, result.body);
    result.rest.erase(0, fed.used);
    result.outcome = fed.outcome;
  }
  return result;
}

}  // namespace

TEST_CASE("a chunked body is put together whatever the steps") {
  const std::string_view text =
      "5\r\nhello\r\n1;a=b\r\n \r\n00a \t;x=\"q\"\r\n0123456789\r\n0\r\nX: y\r\n\r\n";
  for (std::size_t step : {1U, 2U, 3U, 7U, 100U}) {
    const Decoded decoded = decode(text, step);
    INFO(step);
    CHECK(decoded.outcome == Outcome::complete);
    CHECK(decoded.body == "hello 0123456789");
    CHECK(decoded.rest.empty());
  }
}

TEST_CASE("what follows a chunked body is left alone") {
  const Decoded decoded = decode("0\r\n\r\nGET /", 100);
  CHECK(decoded.outcome == Outcome::complete);
  CHECK(decoded.rest == "GET /");
}

TEST_CASE("H03 malformed chunks are refused") {
  const std::string bad[] = {
      "5\nhello\r\n0\r\n\r\n",                      // bare LF
      "5\r\nhello\n0\r\n\r\n",                      // bare LF behind the data
      "5\rhello\r\n0\r\n\r\n",                      // bare CR
      "5;a\nb\r\nhello\r\n0\r\n\r\n",               // LF inside of an extension
      "5;" + std::string(8192, 'a') + "\r\nhello",  // 8 KiB extension
      "1000000000000000\r\n",                       // 16 digits
      "fffffffffffffffff\r\n",                      // overflow
      "-5\r\nhello\r\n",                            // sign
      "0x5\r\nhello\r\n",                           // prefix
      " 5\r\nhello\r\n",                            // space
      "\r\nhello",                                  // no size
      "5 a\r\nhello\r\n",                           // garbage behind the size
      "5\r\nhelloX\r\n",                            // longer than it says
      "0\r\nno colon\r\n\r\n",                      // bad trailer
      "0\r\n X: y\r\n\r\n",                         // folded trailer
      "0\r\nX: y\n\r\n",                            // bare LF in a trailer
      std::string("0\r\nX: \0\r\n\r\n", 11),        // NUL in a trailer
  };
  for (const std::string& text : bad) {
    for (std::size_t step : {1U, 10'000U}) {
      INFO(text << " in steps of " << step);
      CHECK(decode(text, step).outcome == Outcome::malformed);
    }
  }
}

TEST_CASE("H03 a trailer section has its bounds") {
  std::string text = "0\r\n";
  for (int i = 0; i < 17; ++i) text += "X: y\r\n";
  CHECK(decode(text + "\r\n", 100).outcome == Outcome::malformed);
}

TEST_CASE("H08 a chunk beyond the limit is refused by its size") {
  CHECK(decode("a\r\n0123456789\r\n0\r\n\r\n", 100, 10).outcome == Outcome::complete);
  CHECK(decode("b\r\n", 100, 10).outcome == Outcome::too_large);
  CHECK(decode("a\r\n0123456789\r\n1\r\n", 1, 10).outcome == Outcome::too_large);
}

TEST_CASE("a size line that never ends is refused") {
  CHECK(decode(std::string(600, '0'), 1).outcome == Outcome::malformed);
}

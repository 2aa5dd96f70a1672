#include "channel/record.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace mayfly;
using namespace mayfly::channel;

namespace {

std::string record(std::string_view head, std::string_view payload = {}) {
  std::string wire;
  append_record(wire, head, payload);
  return wire;
}

std::string_view line_of(std::string_view wire) {
  return wire.substr(0, wire.size() - 1);
}

}  // namespace

TEST_CASE("a record carries any bytes and is one line") {
  std::string payload;
  for (int i = 0; i < 2000; ++i) payload.push_back(static_cast<char>(i * 37));
  payload += std::string("\n\n\0\0\n", 5);
  const std::string wire = record(R"({"a":1})", payload);
  REQUIRE(wire.find('\n') == wire.size() - 1);
  const auto parsed = parse_record(line_of(wire));
  REQUIRE(parsed);
  REQUIRE(parsed->payload == payload);
  REQUIRE(parsed->head == Json{{"a", 1}});
}

TEST_CASE("K01 a line with one flipped bit anywhere is refused") {
  const std::string wire = record(R"({"method":"ended","n":3})", "some bytes\nand more");
  for (std::size_t at = 0; at + 1 < wire.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken(line_of(wire));
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      REQUIRE_FALSE(parse_record(broken));
    }
  }
}

TEST_CASE("a head that is no object or a line that is too short is refused") {
  REQUIRE_FALSE(parse_record(line_of(record("[1]"))));
  REQUIRE_FALSE(parse_record(line_of(record("{"))));
  REQUIRE_FALSE(parse_record(""));
  REQUIRE_FALSE(parse_record("12345678"));
}

TEST_CASE("a record over its bound is a bug of the writer") {
  std::string wire;
  REQUIRE_THROWS_AS(append_record(wire, "{}", std::string(kMaxPayloadBytes + 1, 'x')), std::logic_error);
  REQUIRE_NOTHROW(append_record(wire, "{}", std::string(kMaxPayloadBytes, '\n')));
  REQUIRE(wire.size() <= kMaxRecordBytes);
}

TEST_CASE("lines are the same for every cut of the stream") {
  std::string stream = "\n\nhalf a line that is no record\n";
  std::vector<std::string> sent;
  for (int i = 0; i < 5; ++i) {
    sent.push_back(
        record(R"({"i":)" + std::to_string(i) + "}", std::string(static_cast<std::size_t>(i) * 9, '\n')));
    stream += sent.back();
  }
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    LineSplitter splitter;
    std::vector<std::string> got;
    for (const auto part : {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      splitter.feed(part);
      while (const auto line = splitter.next()) got.push_back(std::string(*line) + "\n");
    }
    REQUIRE(got.size() == 6);
    REQUIRE(std::vector<std::string>(got.begin() + 1, got.end()) == sent);
  }
}

TEST_CASE("a line over the bound is dropped as a whole and the next one is read") {
  LineSplitter splitter;
  const std::string good = record("{}");
  for (int i = 0; i < 5; ++i) {
    splitter.feed(std::string(40'000, 'x'));
    REQUIRE(splitter.next() == std::nullopt);
  }
  splitter.feed("tail of it\n" + good);
  REQUIRE(splitter.next() == line_of(good));
}

#include "docker_api/http_answer_parser.hpp"

#include <catch2/catch.hpp>

#include "fakes/scripted_engine.hpp"

namespace mayfly::docker {
namespace {

constexpr std::size_t kBound = 1024;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string rest_of(const HttpAnswerParser& parser) {
  return {reinterpret_cast<const char*>(parser.rest().data()), parser.rest().size()};
}

ErrorCode failure_of(std::string_view bytes) {
  HttpAnswerParser parser(kBound);
  const auto fed = parser.feed(bytes_of(bytes));
  if (!fed) return fed.error().code;
  REQUIRE_FALSE(parser.is_done());
  const auto finished = parser.finish();
  REQUIRE_FALSE(finished);
  return finished.error().code;
}

const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n";

TEST_CASE("D03 an answer cut at every byte reads the same") {
  for (const std::string& answer : {test::json_answer(200, R"({"a":1})"), kChunked}) {
    for (std::size_t cut = 0; cut <= answer.size(); ++cut) {
      HttpAnswerParser parser(kBound);
      REQUIRE(parser.feed(bytes_of(std::string_view(answer).substr(0, cut))));
      CHECK(parser.is_done() == (cut == answer.size()));
      REQUIRE(parser.feed(bytes_of(std::string_view(answer).substr(cut))));
      REQUIRE(parser.is_done());
      CHECK(parser.keeps_alive());
      CHECK(parser.take_answer().body == R"({"a":1})");
    }
  }
}

TEST_CASE("D03 an answer that ends at any byte before its end is a lost connection") {
  for (const std::string& answer : {test::json_answer(200, R"({"a":1})"), kChunked})
    for (std::size_t end = 0; end < answer.size(); ++end) {
      CAPTURE(end);
      CHECK(failure_of(std::string_view(answer).substr(0, end)) == ErrorCode::engine_unreachable);
    }
}

TEST_CASE("an answer without a length ends with the connection") {
  HttpAnswerParser parser(kBound);
  REQUIRE(parser.feed(bytes_of("HTTP/1.1 500 Oops\r\n\r\nabc")));
  CHECK_FALSE(parser.is_done());
  REQUIRE(parser.finish());
  CHECK_FALSE(parser.keeps_alive());
  const HttpAnswer answer = parser.take_answer();
  CHECK(answer.status == 500);
  CHECK(answer.body == "abc");
}

TEST_CASE("D03 bytes that are no HTTP are a protocol error") {
  for (const char* bytes : {"garbage\r\n\r\n", "\x16\x03\x01\x02\x28\x0a\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
                            "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"})
    CHECK(failure_of(bytes) == ErrorCode::protocol);
}

TEST_CASE("D03 a body or head over its bound is a protocol error") {
  CHECK(failure_of("HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n") == ErrorCode::protocol);
  CHECK(failure_of("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n") == ErrorCode::protocol);
  const std::string chunk = "400\r\n" + std::string(1024, 'x') + "\r\n";
  CHECK(failure_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk) ==
        ErrorCode::protocol);
  CHECK(failure_of("HTTP/1.1 200 OK\r\nX: " + std::string(1U << 16U, 'x')) == ErrorCode::protocol);
  HttpAnswerParser parser(kBound);
  REQUIRE(parser.feed(bytes_of(test::json_answer(200, std::string(1024, 'x')))));
  CHECK(parser.take_answer().body.size() == 1024);
}

TEST_CASE("an answer that needs no body is whole after its head") {
  HttpAnswerParser parser(kBound);
  REQUIRE(parser.feed(bytes_of("HTTP/1.1 204 No Content\r\nApi-Version: 1.41\r\n\r\n")));
  REQUIRE(parser.is_done());
  CHECK(parser.keeps_alive());
  CHECK(parser.take_answer().status == 204);
}

TEST_CASE("K06 what comes right behind a 101 is the head of the stream") {
  const std::string bytes = test::upgrade_answer() + test::stdcopy_frame(1, "hello");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    HttpAnswerParser parser(kBound);
    REQUIRE(parser.feed(bytes_of(std::string_view(bytes).substr(0, cut))));
    REQUIRE(parser.feed(bytes_of(std::string_view(bytes).substr(cut))));
    REQUIRE(parser.is_done());
    CHECK(parser.take_answer().status == 101);
    CHECK(rest_of(parser) == test::stdcopy_frame(1, "hello"));
  }
}

TEST_CASE("a connection with bytes behind a whole answer is not used again") {
  HttpAnswerParser parser(kBound);
  REQUIRE(parser.feed(bytes_of(test::json_answer(200, "{}") + "x")));
  CHECK(parser.is_done());
  CHECK_FALSE(parser.keeps_alive());
}

}  // namespace
}  // namespace mayfly::docker

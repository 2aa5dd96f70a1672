#include "http/request_head.hpp"

#include <catch2/catch.hpp>

using namespace mayfly::http;

namespace {

std::string head_of(std::string_view fields, std::string_view line = "POST /v1/tasks HTTP/1.1") {
  return std::string(line) + "\r\n" + std::string(fields) + "\r\n";
}

int status_of(const std::string& text) {
  const auto head = parse_head(text);
  return head ? 200 : head.error().status;
}

}  // namespace

TEST_CASE("a plain head is read into its parts") {
  const auto head = parse_head(head_of("Host: a\r\nX-One:  two words \r\nContent-Length: 12\r\n"));
  REQUIRE(head);
  CHECK(head->method == "POST");
  CHECK(head->target == "/v1/tasks");
  CHECK(head->headers.get("x-one") == "two words");
  CHECK(head->content_length == 12U);
  CHECK_FALSE(head->is_chunked);
  CHECK(head->keep_alive == KeepAlive::yes);
}

TEST_CASE("H01 two framings or a length that is no plain number are refused") {
  const char* const bad[] = {
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Content-Length: 5\r\nContent-Length: 5\r\n",
      "Content-Length: 5\r\ncontent-length: 6\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: -5\r\n",
      "Content-Length: 5,5\r\n",
      "Content-Length: 0x5\r\n",
      "Content-Length: 5 5\r\n",
      "Content-Length: 18446744073709551616\r\n",
      "Content-Length: \r\n",
  };
  for (const char* fields : bad) {
    INFO(fields);
    CHECK(status_of(head_of(std::string("Host: a\r\n") + fields)) == 400);
  }
  CHECK(status_of(head_of("Host: a\r\nContent-Length: 18446744073709551615\r\n")) == 200);
}

TEST_CASE("H02 a transfer encoding other than exactly chunked is refused") {
  const char* const bad[] = {
      "Transfer-Encoding: xchunked\r\n",    "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: identity\r\n",    "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding : chunked\r\n",    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding:\r\n",
  };
  for (const char* fields : bad) {
    INFO(fields);
    CHECK(status_of(head_of(std::string("Host: a\r\n") + fields)) == 400);
  }
  CHECK(status_of(head_of("Host: a\r\nTransfer-Encoding: chunked\r\n", "POST / HTTP/1.0")) == 400);
  CHECK(status_of(head_of("Host: a\r\nTransfer-Encoding: Chunked\r\n")) == 200);
}

TEST_CASE("H04 folded lines and names that are no tokens are refused") {
  using namespace std::string_literals;
  const std::string bad[] = {
      "Host: a\r\nX: one\r\n two\r\n"s, "Host: a\r\n\tX: one\r\n"s, "Host: a\r\nX\0: one\r\n"s,
      "Host: a\r\nX: o\0ne\r\n"s,       "Host: a\r\nX y: one\r\n"s, "Host: a\r\n: one\r\n"s,
      "Host: a\r\nno colon\r\n"s,       "Host: a\r\nX: \x7f\r\n"s,  "Host: a\r\nX(y): one\r\n"s,
  };
  for (const std::string& fields : bad) {
    INFO(fields);
    CHECK(status_of(head_of(fields)) == 400);
  }
}

TEST_CASE("H04 a missing or doubled or malformed Host is refused") {
  for (const char* fields : {"X: y\r\n", "Host: a\r\nHost: a\r\n", "Host: \r\n", "Host: a b\r\n",
                             "Host: a/b\r\n", "Host: user@a\r\n", "Host: a,b\r\n"}) {
    INFO(fields);
    CHECK(status_of(head_of(fields)) == 400);
  }
  CHECK(status_of(head_of("Host: [::1]:8080\r\n")) == 200);
}

TEST_CASE("the request line has one method and one path and one version") {
  for (const char* line :
       {"GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET /a b HTTP/1.1", " GET / HTTP/1.1", "GET /",
        "GET http://a/ HTTP/1.1", "GET * HTTP/1.1", "G(T / HTTP/1.1", "GET / http/1.1", "GET / HTTP/1.1x",
        "GET /\xc3\xa9 HTTP/1.1", "GET /#part HTTP/1.1", "", "GET"}) {
    INFO(line);
    CHECK(status_of(head_of("Host: a\r\n", line)) == 400);
  }
  CHECK(status_of(head_of("Host: a\r\n", "PRI /x HTTP/2.0")) == 505);
}

TEST_CASE("H06 one field too many or too long is 431") {
  std::string fields = "Host: a\r\n";
  for (int i = 0; i < 99; ++i) fields += "X-" + std::to_string(i) + ": y\r\n";
  CHECK(status_of(head_of(fields)) == 200);
  CHECK(status_of(head_of(fields + "X-99: y\r\n")) == 431);
  CHECK(status_of(head_of("Host: a\r\nX: " + std::string(8189, 'y') + "\r\n")) == 200);
  CHECK(status_of(head_of("Host: a\r\nX: " + std::string(8190, 'y') + "\r\n")) == 431);
}

TEST_CASE("H04 the scanner refuses a bare CR or LF at once") {
  using Outcome = HeadScanner::Outcome;
  for (const char* text : {"GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nHost: a\n", "GET /\rX", "\n"}) {
    HeadScanner scanner;
    INFO(text);
    CHECK(scanner.scan(text) == Outcome::malformed);
  }
}

TEST_CASE("the scanner refuses what does not begin as a request at once") {
  for (const char* text : {"\x16\x03\x01", "\r\n", " GET", "{"}) {
    HeadScanner scanner;
    INFO(text);
    CHECK(scanner.scan(text) == HeadScanner::Outcome::malformed);
  }
}

TEST_CASE("the scanner finds the end of a head that comes byte by byte") {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
  HeadScanner scanner;
  std::size_t seen = 0;
  while (scanner.scan(std::string_view(text).substr(0, seen)) == HeadScanner::Outcome::need_more) ++seen;
  CHECK(seen == text.size() - 4);
  CHECK(scanner.length() == seen);
}

TEST_CASE("H06 the scanner stops at 16 KiB") {
  HeadScanner scanner;
  CHECK(scanner.scan(std::string(16 << 10, 'x')) == HeadScanner::Outcome::need_more);
  CHECK(scanner.scan(std::string((16 << 10) + 1, 'x')) == HeadScanner::Outcome::too_large);
}

TEST_CASE("Connection decides whether the connection stays") {
  CHECK(parse_head(head_of("Host: a\r\nConnection: x, Close\r\n"))->keep_alive == KeepAlive::no);
  CHECK(parse_head(head_of("Host: a\r\n", "GET / HTTP/1.0"))->keep_alive == KeepAlive::no);
  CHECK(parse_head(head_of("Host: a\r\nConnection: keep-alive\r\n", "GET / HTTP/1.0"))->keep_alive ==
        KeepAlive::yes);
}

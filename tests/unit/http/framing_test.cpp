// F49 and the H rows: what the server does with bodies and with requests that break HTTP.
#include <catch2/catch.hpp>

#include "http/middleware.hpp"
#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

constexpr std::size_t kLimit = http::kSpecBodyBytes;

// A valid spec, filled up with spaces to exactly so many bytes.
std::string spec_of(std::size_t bytes) {
  std::string text(kSmallSpec);
  text.append(bytes - text.size(), ' ');
  return text;
}

std::string chunked(std::string_view body) {
  constexpr std::size_t kChunk = 100'000;
  std::string text;
  while (!body.empty()) {
    const std::string_view chunk = body.substr(0, kChunk);
    body.remove_prefix(chunk.size());
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", chunk.size());
    text.append(size).append(chunk).append("\r\n");
  }
  return text + "0\r\n\r\n";
}

const RawHeaders kChunkedJson = {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}};

RawHeaders json_with(std::string name, std::string value) {
  return {{"Content-Type", "application/json"}, {std::move(name), std::move(value)}};
}

struct Refusal {
  int status;
  bool closed;
};

// What answers these bytes, and whether the connection ends.
Refusal refusal_of(ApiServer& server, std::string_view bytes) {
  RawConnection connection = server.connect();
  connection.send(bytes);
  const int status = connection.read_response().status;
  return {.status = status, .closed = connection.is_closed_by_server()};
}

std::size_t submissions(ApiServer& server) {
  return server.on_loop([&server] { return server.service().submissions(); });
}

}  // namespace

TEST_CASE("F49 a body at the limit is taken and one byte more is not whatever the framing") {
  ApiServer server;
  CHECK(server.call("POST", "/v1/tasks", kJsonBody, spec_of(kLimit - 1)).status == 201);
  CHECK(server.call("POST", "/v1/tasks", kJsonBody, spec_of(kLimit)).status == 201);
  CHECK(server.call("POST", "/v1/tasks", kJsonBody, spec_of(kLimit + 1)).status == 413);
  CHECK(server.call("POST", "/v1/tasks", kChunkedJson, chunked(spec_of(kLimit - 1))).status == 201);
  CHECK(server.call("POST", "/v1/tasks", kChunkedJson, chunked(spec_of(kLimit))).status == 201);
  CHECK(server.call("POST", "/v1/tasks", kChunkedJson, chunked(spec_of(kLimit + 1))).status == 413);
  CHECK(submissions(server) == 4);
}

TEST_CASE("F49 H08 a declared length over the limit is refused before any body comes") {
  ApiServer server;
  const auto refusal =
      refusal_of(server, format_request("POST", "/v1/tasks", json_with("Content-Length", "10000000000")));
  CHECK(refusal.status == 413);
  CHECK(refusal.closed);
}

TEST_CASE("F49 H08 a chunk over the limit is refused by its size alone") {
  ApiServer server;
  const auto refusal = refusal_of(server, format_request("POST", "/v1/tasks", kChunkedJson, "fffffff\r\n"));
  CHECK(refusal.status == 413);
  CHECK(refusal.closed);
}

TEST_CASE("F49 a chunked body without end is cut at the limit") {
  ApiServer server;
  RawConnection connection = server.connect();
  connection.send(format_request("POST", "/v1/tasks", kChunkedJson));
  const std::string chunk = "10000\r\n" + std::string(65'536, ' ') + "\r\n";
  std::size_t sent = 0;
  while (sent <= 2 * kLimit && connection.send(chunk)) sent += chunk.size();
  CHECK(connection.read_response().status == 413);
}

TEST_CASE("F49 a refusal reaches a client that goes on sending") {
  ApiServer server;
  RawConnection connection = server.connect_tcp();
  connection.send(format_request("POST", "/v1/tasks",
                                 {{"Content-Type", "application/json"},
                                  {"Authorization", "Bearer " + ApiServer::token()},
                                  {"Content-Length", "900000000"}}));
  connection.send(std::string(500'000, 'x'));
  CHECK(connection.read_response().status == 413);
}

TEST_CASE("F49 H01 H02 ambiguous framing is 400 and ends the connection") {
  ApiServer server;
  const RawHeaders bad[] = {
      {{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}},
      {{"Content-Length", "5"}, {"Content-Length", "6"}},
      {{"Content-Length", "5"}, {"Content-Length", "5"}},
      {{"Content-Length", "-5"}},
      {{"Content-Length", "5,5"}},
      {{"Content-Length", "18446744073709551616"}},
      {{"Transfer-Encoding", "xchunked"}},
      {{"Transfer-Encoding", "chunked, identity"}},
  };
  for (RawHeaders headers : bad) {
    headers.emplace_back("Content-Type", "application/json");
    const auto refusal = refusal_of(server, format_request("POST", "/v1/tasks", headers) + "0\r\n\r\n");
    INFO(headers[0].first << ": " << headers[0].second);
    CHECK(refusal.status == 400);
    CHECK(refusal.closed);
  }
  CHECK(submissions(server) == 0);
}

TEST_CASE("F49 Expect is answered before the body") {
  ApiServer server;
  RawConnection connection = server.connect();
  RawHeaders headers = json_with("Expect", "100-continue");
  headers.emplace_back("Content-Length", std::to_string(kSmallSpec.size()));
  connection.send(format_request("POST", "/v1/tasks", headers));
  CHECK(connection.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  connection.send(kSmallSpec);
  CHECK(connection.read_response().status == 201);
}

TEST_CASE("F49 Expect with a body over the limit gets the final answer at once") {
  ApiServer server;
  RawHeaders headers = json_with("Expect", "100-continue");
  headers.emplace_back("Content-Length", std::to_string(2 * kLimit));
  RawConnection connection = server.connect();
  connection.send(format_request("POST", "/v1/tasks", headers));
  const RawResponse response = connection.read_response();
  CHECK(response.status == 413);
  CHECK(response.interim.empty());
}

TEST_CASE("F49 an unknown Expect is 417") {
  ApiServer server;
  const auto refusal =
      refusal_of(server, format_request("POST", "/v1/tasks", json_with("Expect", "200-maybe"), kSmallSpec));
  CHECK(refusal.status == 417);
  CHECK(refusal.closed);
}

TEST_CASE("F49 a GET with a body is refused") {
  ApiServer server;
  const auto refusal = refusal_of(server, format_request("GET", "/v1/tasks", kJsonBody, "{}"));
  CHECK(refusal.status == 413);
  CHECK(refusal.closed);
}

TEST_CASE("F49 V02 bodies that are no strict JSON are 400 with a place and the server lives", "[recorded]") {
  ApiServer server;
  const std::string bad[] = {
      "",
      "nonsense",
      std::string("\xef\xbb\xbf") + std::string(kSmallSpec),
      R"({"image":"a","image":"b","command":["true"]})",
      std::string(100'000, '['),
      R"({"image":"a","command":["true"],"priority":)" + std::string(400, '9') + "}",
      R"({"image":"a","command":["true"],"priority":1e400})",
      std::string(kSmallSpec) + "x",
      std::string("{\"image\":\"\xff\"}"),
  };
  for (const std::string& body : bad) {
    const RawResponse response = server.call("POST", "/v1/tasks", kJsonBody, body);
    INFO(body.substr(0, 80));
    CHECK(response.status == 400);
    CHECK_FALSE(parse_body(response).at("detail").get<std::string>().empty());
  }
  CHECK(submissions(server) == 0);
  CHECK(server.call("GET", "/livez").status == 200);
}

TEST_CASE("H04 bare line ends and broken heads are 400 and end the connection") {
  ApiServer server;
  for (const char* text :
       {"GET /livez HTTP/1.1\nHost: a\n\n", "GET /livez HTTP/1.1\r\nHost: a\r\n X: y\r\n\r\n",
        "GET /livez HTTP/1.1\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "\r\n\r\n",
        "nonsense\r\n\r\n", "\x16\x03\x01\x02\x00\r\n"}) {
    const auto refusal = refusal_of(server, text);
    INFO(text);
    CHECK(refusal.status == 400);
    CHECK(refusal.closed);
  }
}

TEST_CASE("H06 too many or too big headers are 431") {
  ApiServer server;
  RawHeaders many;
  for (int i = 0; i < 101; ++i) many.emplace_back("X-" + std::to_string(i), "y");
  CHECK(refusal_of(server, format_request("GET", "/livez", many)).status == 431);
  CHECK(refusal_of(server, format_request("GET", "/livez", {{"X", std::string(9 << 10, 'y')}})).status ==
        431);
  const RawHeaders total = {
      {"A", std::string(7 << 10, 'y')}, {"B", std::string(7 << 10, 'y')}, {"C", std::string(6 << 10, 'y')}};
  const auto refusal = refusal_of(server, format_request("GET", "/livez", total));
  CHECK(refusal.status == 431);
  CHECK(refusal.closed);
}

TEST_CASE("H09 a request behind a refused one is never executed") {
  ApiServer server;
  const std::string second = format_request("POST", "/v1/tasks", kJsonBody, kSmallSpec);
  const std::string firsts[] = {
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      format_request("POST", "/v1/tasks", {{"Content-Type", "text/plain"}}, "{}"),
      format_request("GET", "/nowhere"),
      format_request("POST", "/v1/tasks", json_with("Content-Length", "5,5")),
      format_request("POST", "/v1/tasks", kChunkedJson, "5\nhello\r\n0\r\n\r\n"),
      format_request("GET", "/v1/tasks", {{"Content-Length", std::to_string(second.size())}}),
  };
  for (const std::string& first : firsts) {
    RawConnection connection = server.connect();
    connection.send(first + second);
    INFO(first);
    CHECK(connection.read_response().status >= 400);
    CHECK(connection.is_closed_by_server());
  }
  CHECK(submissions(server) == 0);
}

TEST_CASE("good requests behind each other are answered in order on one connection") {
  ApiServer server;
  RawConnection connection = server.connect();
  const std::string post = format_request("POST", "/v1/tasks", kJsonBody, kSmallSpec);
  const std::string post_chunked = format_request("POST", "/v1/tasks", kChunkedJson, chunked(kSmallSpec));
  connection.send(post + post_chunked + format_request("GET", "/livez") +
                  format_request("HEAD", "/v1/tasks") +
                  format_request("GET", "/livez", {{"Connection", "close"}}));
  CHECK(connection.read_response().status == 201);
  CHECK(connection.read_response().status == 201);
  CHECK(connection.read_response().status == 200);
  const RawResponse head = connection.read_response(RawConnection::Body::none);
  CHECK(head.status == 200);
  CHECK(std::stoul(head.header("content-length")) > 1000);
  CHECK(connection.read_response().header("connection") == "close");
  CHECK(connection.is_closed_by_server());
  CHECK(submissions(server) == 2);
}

TEST_CASE("an HTTP/1.0 client gets a body without chunks and an end") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.on_loop([&] { server.service().end_feed(id); });
  RawConnection connection = server.connect();
  connection.send("GET /v1/tasks/" + id.str() + "/events HTTP/1.0\r\nHost: a\r\n\r\n");
  const RawResponse response = connection.read_response();
  CHECK(response.header("transfer-encoding").empty());
  CHECK(response.body.find("event: end\n") != std::string::npos);
}

TEST_CASE("H07 a head or body that drips is cut at its deadline") {
  ApiServerOptions options;
  options.times.head = Millis(50);
  options.times.body = Millis(50);
  ApiServer server(options);
  RawConnection silent = server.connect();
  RawConnection head = server.connect();
  head.send("GET /livez HT");
  RawConnection body = server.connect();
  body.send(format_request("POST", "/v1/tasks", json_with("Content-Length", "100"), "{\"image\""));
  CHECK(silent.is_closed_by_server());
  CHECK(head.read_response().status == 408);
  CHECK(head.is_closed_by_server());
  CHECK(body.read_response().status == 408);
  CHECK(body.is_closed_by_server());
  CHECK(server.call("GET", "/livez").status == 200);
}

TEST_CASE("a connection that idles between requests is closed without a word") {
  ApiServerOptions options;
  options.times.idle = Millis(50);
  ApiServer server(options);
  RawConnection connection = server.connect();
  connection.send(format_request("GET", "/livez"));
  CHECK(connection.read_response().status == 200);
  CHECK(connection.is_closed_by_server());
}

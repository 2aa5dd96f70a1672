#include "http/problem.hpp"

#include <catch2/catch.hpp>

#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::http;

namespace {

Json render(const Error& error) {
  const auto json = parse_json(problem_response(problem_from(error), "req_1").body);
  REQUIRE(json);
  return *json;
}

}  // namespace

TEST_CASE("a problem carries what RFC 9457 asks for and our stable code") {
  const Error error{
      .code = ErrorCode::policy_denied,
      .message = "too much",
      .fields = {{.pointer = "/limits/memory", .code = "over_ceiling", .detail = "1Gi is over 512Mi"}}};
  const Json json = render(error);
  CHECK(json.at("type") == "urn:mayfly:problem:policy_denied");
  CHECK(json.at("status") == 422);
  CHECK(json.at("code") == "policy_denied");
  CHECK(json.at("detail") == "too much");
  CHECK(json.at("retryable") == false);
  CHECK(json.at("request_id") == "req_1");
  CHECK(json.at("errors").at(0).at("pointer") == "/limits/memory");
}

TEST_CASE("S02 problems of class 5xx carry no inner text") {
  for (const ErrorCode code :
       {ErrorCode::internal, ErrorCode::io, ErrorCode::corrupt, ErrorCode::engine_refused,
        ErrorCode::engine_unreachable, ErrorCode::unavailable, ErrorCode::disk_full}) {
    const Error error{.code = code,
                      .message = "canary-secret",
                      .fields = {{.pointer = "canary-secret", .code = "", .detail = ""}}};
    CHECK(render(error).dump().find("canary-secret") == std::string::npos);
    CHECK(render(error).at("code") == std::string(name_of(code)));
  }
}

TEST_CASE("where asking again makes sense the answer says when") {
  const auto after = [](ErrorCode code) {
    return std::string(
        problem_response(problem_from(Error{.code = code, .message = ""}), "r").headers.get("Retry-After"));
  };
  CHECK(after(ErrorCode::rate_limited) == "5");
  CHECK(after(ErrorCode::unavailable) == "5");
  CHECK(after(ErrorCode::disk_full) == "30");
  CHECK(after(ErrorCode::not_found).empty());
}

TEST_CASE("text that is no UTF-8 does not break a problem") {
  CHECK(render(Error{.code = ErrorCode::not_found, .message = "no \xff file"}).at("detail") ==
        "no \xef\xbf\xbd file");
}

TEST_CASE("a header value can not begin another header") {
  Response response;
  response.headers.add("X-Name", "a\r\nX-Evil: b\n\nc");
  const std::string head = format_head(response, Framing::length, 0, KeepAlive::no);
  CHECK(head.find("X-Name: aX-Evil: bc\r\n") != std::string::npos);
}

TEST_CASE("Date is written as RFC 9110 wants it") {
  CHECK(format_http_date(WallTime(Millis(784'111'777'999))) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(format_http_date(WallTime(Millis(1'709'164'800'000))) == "Thu, 29 Feb 2024 00:00:00 GMT");
}

TEST_CASE("an exception of the service is a 500 without its text and stands in the log with the request id") {
  test::ApiServer server;
  server.on_loop([&server] { server.service().throw_text("canary-secret"); });
  const auto response = server.call("GET", "/v1/tasks", {{"X-Request-Id", "my-request-7"}});
  CHECK(response.status == 500);
  CHECK(response.header("x-request-id") == "my-request-7");
  CHECK(response.body.find("canary-secret") == std::string::npos);
  CHECK(server.log().text().find("request_id=my-request-7") != std::string::npos);
  CHECK(server.log().text().find("canary-secret") != std::string::npos);
  server.on_loop([&server] { server.service().throw_text(""); });
  CHECK(server.call("GET", "/v1/tasks").status == 200);
}

TEST_CASE("every code of the service has its status", "[recorded]") {
  test::ApiServer server;
  for (const ErrorCode code :
       {ErrorCode::rate_limited, ErrorCode::unavailable, ErrorCode::disk_full, ErrorCode::policy_denied,
        ErrorCode::idempotency_mismatch, ErrorCode::conflict, ErrorCode::engine_unreachable}) {
    server.on_loop(
        [&server, code] { server.service().fail_with_error(Error{.code = code, .message = "because"}); });
    const auto response = server.call("POST", "/v1/tasks", test::kJsonBody, test::kSmallSpec);
    CHECK(response.status == http_status(code));
    CHECK(response.header("content-type") == "application/problem+json");
    CHECK(test::parse_body(response).at("retryable") == is_retryable(code));
  }
}

// Who may ask: A01, A13, V07, V08 and the rest of what stands before a handler.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

Json load_openapi() {
  std::ifstream file(MAYFLY_OPENAPI);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parse_json(text).value();
}

struct Operation {
  std::string method;
  std::string path;  // the template
  bool is_public = false;
};

std::vector<Operation> operations_of(const Json& openapi) {
  std::vector<Operation> operations;
  for (const auto& [path, item] : openapi.at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      const bool is_public = operation.contains("security") && operation.at("security").empty();
      operations.push_back(
          {.method = method == "get" ? "GET" : "POST", .path = path, .is_public = is_public});
    }
  }
  return operations;
}

std::string fill(std::string path, const std::string& id) {
  if (const auto at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, id);
  if (const auto at = path.find("{path}"); at != std::string::npos) path.replace(at, 6, "a/b");
  return path;
}

RawResponse ask_tcp(ApiServer& server, std::string_view method, std::string_view target,
                    RawHeaders headers = {}, std::string_view body = {}) {
  RawConnection connection = server.connect_tcp();
  connection.send(format_request(method, target, headers, body));
  return connection.read_response();
}

RawHeaders bearer(const std::string& token) {
  return {{"Authorization", "Bearer " + token}};
}

std::size_t calls(ApiServer& server) {
  return server.on_loop([&server] { return server.service().calls(); });
}

}  // namespace

TEST_CASE("A01 every route of the OpenAPI document but health answers 401 without credentials") {
  ApiServer server;
  const std::string known = server.add_task().str();
  const std::string unknown = make_id<TaskId>().str();
  std::size_t walked = 0;
  for (const Operation& operation : operations_of(load_openapi())) {
    INFO(operation.method << ' ' << operation.path);
    const RawHeaders headers = operation.method == "POST" ? kJsonBody : RawHeaders{};
    const RawResponse response = ask_tcp(server, operation.method, fill(operation.path, known), headers);
    if (operation.is_public) {
      CHECK(response.status == 200);
      continue;
    }
    ++walked;
    CHECK(response.status == 401);
    CHECK(response.header("www-authenticate") == "Bearer realm=\"mayfly\"");
    const RawResponse other = ask_tcp(server, operation.method, fill(operation.path, unknown), headers);
    CHECK(other.status == 401);
    CHECK(other.body.size() == response.body.size());
  }
  CHECK(walked >= 13);
  CHECK(ask_tcp(server, "GET", "/nowhere").status == 401);
  CHECK(ask_tcp(server, "DELETE", "/v1/tasks").status == 401);
  CHECK(ask_tcp(server, "OPTIONS", "/v1/tasks").status == 401);
  CHECK(calls(server) == 0);
}

TEST_CASE("the routes and the OpenAPI document name the same operations") {
  ApiServer server;
  std::set<std::string> documented;
  std::set<std::string> served;
  for (const Operation& operation : operations_of(load_openapi())) {
    documented.insert(operation.method + ' ' + operation.path + (operation.is_public ? " public" : ""));
  }
  for (const http::Route& route : server.api().router().routes()) {
    std::string path = route.pattern;
    if (const auto at = path.find("..."); at != std::string::npos) path.erase(at, 3);
    served.insert(route.method + ' ' + path + (route.access == http::Access::everyone ? " public" : ""));
  }
  CHECK(documented == served);
}

TEST_CASE("the routes and the OpenAPI document know the same query parameters") {
  ApiServer server;
  const Json openapi = load_openapi();
  for (const http::Route& route : server.api().router().routes()) {
    std::string path = route.pattern;
    if (const auto at = path.find("..."); at != std::string::npos) path.erase(at, 3);
    const Json& operation = openapi.at("paths").at(path).at(route.method == "GET" ? "get" : "post");
    std::set<std::string> documented;
    for (const Json& parameter : operation.value("parameters", Json::array())) {
      if (parameter.at("in") == "query") documented.insert(parameter.at("name"));
    }
    INFO(route.pattern);
    CHECK(documented == std::set<std::string>(route.query.begin(), route.query.end()));
  }
}

TEST_CASE("the bearer token opens TCP and nothing like it does") {
  ApiServer server;
  CHECK(ask_tcp(server, "GET", "/v1/tasks", bearer(ApiServer::token())).status == 200);
  CHECK(ask_tcp(server, "GET", "/v1/tasks", {{"authorization", "bEARER " + ApiServer::token()}}).status ==
        200);
  const std::string token = ApiServer::token();
  const RawHeaders wrong[] = {bearer(""),
                              bearer(token + "x"),
                              bearer(token.substr(1)),
                              bearer(" " + token),
                              {{"Authorization", token}},
                              {{"Authorization", "Basic " + token}},
                              {{"X-Authorization", "Bearer " + token}}};
  for (const RawHeaders& headers : wrong) {
    const RawResponse response = ask_tcp(server, "GET", "/v1/tasks", headers);
    INFO(headers[0].second);
    CHECK(response.status == 401);
    CHECK(response.body.find(token) == std::string::npos);
  }
  CHECK(ask_tcp(server, "GET", "/v1/tasks?access_token=" + token).status == 401);
}

TEST_CASE("a request that was refused for its credentials ends the connection") {
  ApiServer server;
  RawConnection connection = server.connect_tcp();
  connection.send(format_request("GET", "/v1/tasks") +
                  format_request("GET", "/v1/tasks", bearer(ApiServer::token())));
  CHECK(connection.read_response().status == 401);
  CHECK(connection.is_closed_by_server());
}

TEST_CASE("A13 a foreign Host on TCP is 421 before anything else") {
  ApiServer server;
  for (const char* host :
       {"evil.test", "evil.test:80", "127.0.0.1.evil.test", "localhost.evil.test", "0.0.0.0", "10.0.0.1"}) {
    RawHeaders headers = bearer(ApiServer::token());
    headers.emplace_back("Host", host);
    INFO(host);
    CHECK(ask_tcp(server, "GET", "/v1/tasks", headers).status == 421);
    CHECK(ask_tcp(server, "GET", "/livez", {{"Host", host}}).status == 421);
  }
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:9999", "[::1]:80", "[::1]"}) {
    INFO(host);
    CHECK(ask_tcp(server, "GET", "/livez", {{"Host", host}}).status == 200);
  }
  CHECK(server.call("GET", "/livez", {{"Host", "anything"}}).status == 200);
}

TEST_CASE("A13 a web page from elsewhere is 403 whatever it carries") {
  ApiServer server;
  for (const char* origin :
       {"http://evil.test", "null", "http://localhost:1", "file://", "http://localhost.evil.test"}) {
    RawHeaders headers = bearer(ApiServer::token());
    headers.emplace_back("Origin", origin);
    headers.emplace_back("Connection", "Upgrade");
    headers.emplace_back("Upgrade", "websocket");
    INFO(origin);
    CHECK(ask_tcp(server, "GET", "/v1/tasks", headers).status == 403);
  }
  RawHeaders same = bearer(ApiServer::token());
  same.emplace_back("Origin", "http://localhost:8080");
  same.emplace_back("Host", "localhost:8080");
  const RawResponse response = ask_tcp(server, "GET", "/v1/tasks", same);
  CHECK(response.status == 200);
  CHECK(response.header("access-control-allow-origin").empty());
}

TEST_CASE("V07 ids that could lead elsewhere never reach the service", "[recorded]") {
  ApiServer server;
  const std::string id = server.add_task().str();
  const std::size_t before = calls(server);
  for (const std::string& part :
       {std::string("%2e%2e"), std::string(".."), std::string("%00"), std::string("%252e%252e"), id + ";x",
        id + "%00", id + "%2fcancel", std::string("a\\b"), std::string("%5c"),
        std::string("tsk_") + std::string(26, '.'), id + "%20", "TSK_" + id.substr(4)}) {
    const RawResponse response = server.call("GET", "/v1/tasks/" + part);
    INFO(part);
    CHECK((response.status == 400 || response.status == 404));
    CHECK(response.header("content-type") == "application/problem+json");
  }
  for (const char* path : {"/v1/tasks/%2e%2e/%2e%2e/etc/passwd", "/v1/../metrics", "//metrics",
                           "/v1/tasks/x/artifacts/../../y"}) {
    INFO(path);
    CHECK(server.call("GET", path).status >= 400);
  }
  CHECK(calls(server) == before);
}

TEST_CASE("V08 bodies that are not plain JSON or YAML in UTF-8 are 415 and not read", "[recorded]") {
  ApiServer server;
  const RawHeaders bad[] = {
      {{"Content-Type", "text/plain"}},
      {{"Content-Type", "application/x-www-form-urlencoded"}},
      {{"Content-Type", "multipart/form-data; boundary=x"}},
      {{"Content-Type", "application/json; charset=utf-16"}},
      {{"Content-Type", "application/json; charset=\"UTF-16LE\""}},
      {{"Content-Type", "application/jsonx"}},
      {{"Content-Type", ""}},
      {},
      {{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}},
      {{"Content-Type", "application/json"}, {"Content-Encoding", "br"}},
  };
  for (const RawHeaders& headers : bad) {
    const RawResponse response = server.call("POST", "/v1/tasks", headers, kSmallSpec);
    INFO((headers.empty() ? "none" : headers.back().second));
    CHECK(response.status == 415);
    CHECK(parse_body(response).at("code") == "unsupported_media");
  }
  CHECK(
      server.call("POST", "/v1/tasks", {{"Content-Type", "Application/JSON; Charset=\"UTF-8\""}}, kSmallSpec)
          .status == 201);
  CHECK(server.on_loop([&server] { return server.service().submissions(); }) == 1);
}

TEST_CASE("unknown paths and methods and parameters are named", "[recorded]") {
  ApiServer server;
  const std::string id = server.add_task().str();
  CHECK(server.call("GET", "/nowhere").status == 404);
  const RawResponse method = server.call("DELETE", "/v1/tasks/" + id);
  CHECK(method.status == 405);
  CHECK(method.header("allow") == "GET, HEAD, OPTIONS");
  CHECK(server.call("get", "/v1/tasks").status == 405);
  const RawResponse options = server.call("OPTIONS", "/v1/tasks");
  CHECK(options.status == 204);
  CHECK(options.header("allow") == "GET, HEAD, OPTIONS, POST");
  const RawResponse query = server.call("GET", "/v1/tasks?lmit=5");
  CHECK(query.status == 400);
  CHECK(parse_body(query).at("errors").at(0).at("pointer") == "?lmit");
  CHECK(server.call("GET", "/v1/tasks?limit=%g").status == 400);
}

TEST_CASE("a request id is echoed when it is safe and made when it is not") {
  ApiServer server;
  CHECK(server.call("GET", "/livez", {{"X-Request-Id", "abc-1.2_3"}}).header("x-request-id") == "abc-1.2_3");
  for (const std::string& id :
       {std::string("a b"), std::string("a\"b"), std::string(129, 'a'), std::string("<script>")}) {
    CHECK(server.call("GET", "/livez", {{"X-Request-Id", id}}).header("x-request-id").substr(0, 4) == "req_");
  }
  const RawResponse refused = server.call("GET", "/nowhere", {{"X-Request-Id", "abc"}});
  CHECK(parse_body(refused).at("request_id") == "abc");
}

#include "http/router.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::http;

namespace {

Router make_router() {
  std::vector<Route> routes(4);
  routes[0] = {.method = "GET", .pattern = "/v1/things"};
  routes[1] = {.method = "POST", .pattern = "/v1/things"};
  routes[2] = {.method = "GET", .pattern = "/v1/things/{id}"};
  routes[3] = {.method = "GET", .pattern = "/v1/things/{id}/files/{path...}"};
  return Router(std::move(routes));
}

std::string found(const Router& router, std::string_view method, std::string_view path) {
  const auto match = router.find(method, path);
  if (!match) return "refused";
  return match->route ? match->route->method + ' ' + match->route->pattern : "none [" + match->allow + "]";
}

}  // namespace

TEST_CASE("method and path choose the route") {
  const Router router = make_router();
  CHECK(found(router, "GET", "/v1/things") == "GET /v1/things");
  CHECK(found(router, "POST", "/v1/things") == "POST /v1/things");
  CHECK(found(router, "HEAD", "/v1/things") == "GET /v1/things");
  CHECK(found(router, "GET", "/v1/things/a") == "GET /v1/things/{id}");
  CHECK(router.find("GET", "/v1/things/a%20b")->params.at("id") == "a b");
}

TEST_CASE("a known path with another method says what it allows") {
  const Router router = make_router();
  CHECK(found(router, "DELETE", "/v1/things") == "none [GET, HEAD, OPTIONS, POST]");
  CHECK(found(router, "POST", "/v1/things/a") == "none [GET, HEAD, OPTIONS]");
  CHECK(found(router, "OPTIONS", "/v1/things/a") == "none [GET, HEAD, OPTIONS]");
}

TEST_CASE("unknown paths match nothing") {
  const Router router = make_router();
  for (const char* path :
       {"/", "/v1", "/v1/things/", "/v1/things/a/", "/V1/things", "/v1/things/a/files", "/v2/things"}) {
    INFO(path);
    CHECK((found(router, "GET", path) == "none []" || found(router, "GET", path) == "refused"));
  }
}

TEST_CASE("the rest of a path keeps its slashes") {
  const Router router = make_router();
  const auto match = router.find("GET", "/v1/things/a/files/out/x%20y/z.txt");
  REQUIRE(match->route);
  CHECK(match->params.at("path") == "out/x y/z.txt");
  CHECK(router.find("GET", "/v1/things/a/files/100%25")->params.at("path") == "100%");
}

TEST_CASE("V07 paths that could lead elsewhere are refused") {
  const Router router = make_router();
  for (const char* path :
       {"/v1/things/..", "/v1/things/%2e%2e", "/v1/things/a%2fb", "/v1/things/%00", "/v1/things/a\\b",
        "/v1/things/a/files/../b", "/v1/things/a/files/x/%2e%2e/y", "/v1/things/a/files/x//y",
        "/v1/things/a/files/x%2fy", "/../etc/passwd", "/%2e%2e/etc", "/v1//things", "/v1/things/%zz"}) {
    INFO(path);
    CHECK(found(router, "GET", path) == "refused");
  }
}

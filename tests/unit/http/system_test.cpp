#include <catch2/catch.hpp>

#include "http/openapi.hpp"
#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

TEST_CASE("liveness looks at nothing but the loop", "[recorded]") {
  ApiServer server;
  server.on_loop([&server] {
    server.service().throw_text("sick");
    server.service().set_readiness({.ready = false, .checks = {}});
  });
  CHECK(server.call("GET", "/livez").status == 200);
  CHECK(server.call("GET", "/healthz").status == 200);
  CHECK(server.on_loop([&server] { return server.service().calls(); }) == 0);
}

TEST_CASE("readiness is 503 with its checks when one fails", "[recorded]") {
  ApiServer server;
  CHECK(server.call("GET", "/readyz").status == 200);
  CHECK_FALSE(parse_body(server.call("GET", "/readyz")).contains("checks"));
  server.on_loop([&server] {
    Readiness readiness;
    readiness.checks = {{.name = "engine", .ok = false, .detail = "connect /secret/path: refused"},
                        {.name = "disk", .ok = true, .detail = ""}};
    server.service().set_readiness(readiness);
  });
  const RawResponse response = server.call("GET", "/readyz?verbose");
  CHECK(response.status == 503);
  CHECK(parse_body(response).at("checks").at(0).at("ok") == false);
  CHECK(parse_body(response).at("checks").at(0).at("detail") == "connect /secret/path: refused");
  RawConnection stranger = server.connect_tcp();
  stranger.send(format_request("GET", "/readyz?verbose=true"));
  const RawResponse told = stranger.read_response();
  CHECK(told.status == 503);
  CHECK(told.body.find("secret") == std::string::npos);
  CHECK(parse_body(told).at("checks").size() == 2);
}

TEST_CASE("metrics are Prometheus text and count requests by route without ids", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.call("GET", "/v1/tasks/" + id.str());
  server.call("BREW", "/v1/tasks/" + id.str());
  server.call("GET", "/v1/wp-admin.php");
  const RawResponse response = server.call("GET", "/metrics");
  CHECK(response.header("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(response.body.find(
            "mayfly_http_requests_total{method=\"GET\",route=\"/v1/tasks/{id}\",status=\"200\"} 1") !=
        std::string::npos);
  CHECK(response.body.find("{method=\"other\",route=\"none\",status=\"405\"} 1") != std::string::npos);
  CHECK(response.body.find(id.str()) == std::string::npos);
  CHECK(response.body.find("BREW") == std::string::npos);
  CHECK(response.body.find("wp-admin") == std::string::npos);
}

TEST_CASE("the description is served as it stands in the repository", "[recorded]") {
  ApiServer server;
  const RawResponse response = server.call("GET", "/openapi.json");
  CHECK(response.status == 200);
  CHECK(response.body == http::openapi_json());
  CHECK(parse_body(response).at("openapi") == "3.1.0");
}

TEST_CASE("capabilities say what the runtime can do once it is known", "[recorded]") {
  ApiServer server;
  CHECK(parse_body(server.call("GET", "/v1/capabilities")).at("runtime").is_null());
  server.on_loop([&server] {
    Capabilities capabilities;
    capabilities.backend = "docker";
    capabilities.engine_version = "20.10.24";
    capabilities.notes = {"disk quota: ext4 holds no size limit"};
    server.service().set_capabilities(capabilities);
  });
  const Json json = parse_body(server.call("GET", "/v1/capabilities"));
  CHECK(json.at("runtime").at("backend") == "docker");
  CHECK(json.at("runtime").at("notes").size() == 1);
  CHECK(json.at("spec_limits").at("spec_body_bytes") == 4 << 20);
}

TEST_CASE("usage samples are listed as they were taken", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.on_loop([&] {
    UsageSample sample;
    sample.at = WallTime(Millis(1'700'000'000'000));
    sample.usage.cpu_ms = 42;
    server.service().add_usage(id, sample);
  });
  const Json json = parse_body(server.call("GET", "/v1/tasks/" + id.str() + "/usage"));
  CHECK(json.at("items").at(0).at("cpu_ms") == 42);
  CHECK(json.at("items").at(0).at("at") == "2023-11-14T22:13:20.000Z");
}

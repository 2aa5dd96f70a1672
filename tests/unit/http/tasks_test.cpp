#include <catch2/catch.hpp>
#include <set>

#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

std::string task_path(const TaskId& id) {
  return "/v1/tasks/" + id.str();
}

RawHeaders keyed(std::string key) {
  return {{"Content-Type", "application/json"}, {"Idempotency-Key", std::move(key)}};
}

std::vector<std::string> ids_of(const Json& page) {
  std::vector<std::string> ids;
  for (const Json& item : page.at("items")) ids.push_back(item.at("id"));
  return ids;
}

}  // namespace

TEST_CASE("a submitted task is 201 with its place and its tag", "[recorded]") {
  ApiServer server;
  const RawResponse response = server.call("POST", "/v1/tasks", kJsonBody, kSmallSpec);
  REQUIRE(response.status == 201);
  const Json task = parse_body(response);
  CHECK(response.header("location") == "/v1/tasks/" + task.at("id").get<std::string>());
  CHECK(task.at("state") == "queued");
  CHECK(task.at("tenant") == "default");
  CHECK_FALSE(response.header("etag").empty());
  const RawResponse shown = server.call("GET", response.header("location"));
  CHECK(shown.body == response.body);
  CHECK(shown.header("etag") == response.header("etag"));
  CHECK(shown.header("cache-control") == "no-store");
  CHECK(shown.header("date").ends_with(" GMT"));
  CHECK(shown.header("x-content-type-options") == "nosniff");
}

TEST_CASE("a task file in YAML is taken as it is", "[recorded]") {
  ApiServer server;
  const RawHeaders yaml = {{"Content-Type", "application/yaml"}};
  const RawResponse response = server.call("POST", "/v1/tasks", yaml,
                                           "image: busybox:1\ncommand: [echo, hi]\nlabels: {team: a}\n"
                                           "limits: {memory: 64Mi, cpus: 0.5}\ntimeouts: {run: 10s}\n");
  REQUIRE(response.status == 201);
  CHECK(parse_body(response).at("labels").at("team") == "a");
  const RawResponse bad = server.call("POST", "/v1/tasks", yaml, "image: a\nimage: b\n");
  CHECK(bad.status == 400);
  CHECK(parse_body(bad).at("errors").at(0).at("pointer").get<std::string>().substr(0, 7) == "body:2:");
}

TEST_CASE("A05 fields that are not the client's to set are 400 unknown_field", "[recorded]") {
  ApiServer server;
  for (const char* field :
       {"tenant", "status", "state", "container_id", "policy_hash", "image_verified", "id", "granted"}) {
    const std::string body = R"({"image":"a","command":["true"],")" + std::string(field) + R"(":"x"})";
    const RawResponse response = server.call("POST", "/v1/tasks", kJsonBody, body);
    INFO(field);
    REQUIRE(response.status == 400);
    const Json fault = parse_body(response).at("errors").at(0);
    CHECK(fault.at("pointer") == std::string("/") + field);
    CHECK(fault.at("code") == "unknown_field");
  }
  CHECK(server.on_loop([&server] { return server.service().submissions(); }) == 0);
}

TEST_CASE("every wrong field is named at once", "[recorded]") {
  ApiServer server;
  const RawResponse response = server.call("POST", "/v1/tasks", kJsonBody,
                                           R"({"command":[],"limits":{"memory":"lots"},"priority":1.5})");
  CHECK(response.status == 400);
  std::set<std::string> pointers;
  const Json problem = parse_body(response);
  for (const Json& fault : problem.at("errors")) pointers.insert(fault.at("pointer"));
  CHECK(pointers == std::set<std::string>{"/image", "/command", "/limits/memory", "/priority"});
}

TEST_CASE("the same key and body give the first task again and another body is 422", "[recorded]") {
  ApiServer server;
  const RawResponse first = server.call("POST", "/v1/tasks", keyed("key-1"), kSmallSpec);
  const RawResponse second = server.call("POST", "/v1/tasks", keyed("\"key-1\""), kSmallSpec);
  CHECK(first.status == 201);
  CHECK(first.header("idempotency-replayed").empty());
  CHECK(second.status == 201);
  CHECK(second.header("idempotency-replayed") == "true");
  CHECK(second.header("location") == first.header("location"));
  const RawResponse other =
      server.call("POST", "/v1/tasks", keyed("key-1"), R"({"image":"busybox:1","command":["false"]})");
  CHECK(other.status == 422);
  CHECK(parse_body(other).at("code") == "idempotency_mismatch");
  CHECK(server.call("POST", "/v1/tasks", keyed("a b"), kSmallSpec).status == 400);
  CHECK(server.on_loop([&server] { return server.service().submissions(); }) == 1);
}

TEST_CASE("a dry run shows what would be granted and stores nothing", "[recorded]") {
  ApiServer server;
  const RawResponse response = server.call("POST", "/v1/tasks?dry_run=true", kJsonBody, kSmallSpec);
  CHECK(response.status == 200);
  CHECK(parse_body(response).at("granted").at("memory").get<std::uint64_t>() > 0);
  CHECK(parse_body(response).at("spec").at("image") == "busybox:1");
  CHECK(server.on_loop([&server] { return server.service().submissions(); }) == 0);
  CHECK(server.call("POST", "/v1/tasks?dry_run=1", kJsonBody, kSmallSpec).status == 400);
}

TEST_CASE("a task that did not change is 304", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  const std::string etag = server.call("GET", task_path(id)).header("etag");
  const RawResponse unchanged = server.call("GET", task_path(id), {{"If-None-Match", "\"x\", " + etag}});
  CHECK(unchanged.status == 304);
  CHECK(unchanged.header("etag") == etag);
  CHECK(unchanged.header("content-length").empty());
  server.on_loop([&] { server.service().record(id).pending_reason = "waiting for capacity: place 3 of 9"; });
  CHECK(server.call("GET", task_path(id), {{"If-None-Match", etag}}).status == 200);
}

TEST_CASE("detail decides whether the spec is shown", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  CHECK_FALSE(parse_body(server.call("GET", task_path(id))).contains("spec"));
  CHECK(parse_body(server.call("GET", task_path(id) + "?detail=full")).at("spec").at("command").at(0) ==
        "true");
  CHECK(server.call("GET", task_path(id) + "?detail=all").status == 400);
}

TEST_CASE("unknown and foreign tasks look the same", "[recorded]") {
  ApiServer server;
  const TaskId foreign =
      server.on_loop([&server] { return server.service().add_task(make_spec(), "other"); });
  const TaskId unknown = make_id<TaskId>();
  for (const char* rest :
       {"", "/events", "/logs", "/usage", "/artifacts", "/artifacts.tar", "/artifacts/a"}) {
    const RawHeaders headers = {{"X-Request-Id", "r"}};
    const RawResponse a = server.call("GET", task_path(foreign) + rest, headers);
    const RawResponse b = server.call("GET", task_path(unknown) + rest, headers);
    INFO(rest);
    CHECK(a.status == 404);
    CHECK(b.status == 404);
    CHECK(a.body.size() == b.body.size());
  }
  CHECK(server.call("POST", task_path(foreign) + "/cancel").status == 404);
  CHECK(parse_body(server.call("GET", "/v1/tasks")).at("items").empty());
}

TEST_CASE("cancel is taken with no body or an empty object", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  const RawResponse response = server.call("POST", task_path(id) + "/cancel");
  CHECK(response.status == 200);
  CHECK(parse_body(response).at("state") == "cancelled");
  CHECK(parse_body(response).at("reason_class") == "cancelled");
  CHECK(server.call("POST", task_path(id) + "/cancel", kJsonBody, "{}").status == 200);
  CHECK(server.call("POST", task_path(id) + "/cancel", kJsonBody, "{\"a\":1}").status == 400);
  CHECK(server.call("POST", task_path(id) + "/cancel", {{"Content-Type", "text/plain"}}, "x").status == 415);
  CHECK(server.call("POST", task_path(id) + "/cancel", kJsonBody, std::string(100, ' ')).status == 413);
}

TEST_CASE("pages follow each other to the last without gap or repetition", "[recorded]") {
  ApiServer server;
  std::vector<std::string> wanted;
  for (int i = 0; i < 7; ++i) wanted.insert(wanted.begin(), server.add_task().str());
  std::vector<std::string> seen;
  std::string target = "/v1/tasks?limit=3";
  for (;;) {
    const RawResponse response = server.call("GET", target);
    REQUIRE(response.status == 200);
    for (std::string& id : ids_of(parse_body(response))) seen.push_back(std::move(id));
    const std::string link = response.header("link");
    CHECK(parse_body(response).at("next_cursor").is_null() == link.empty());
    if (link.empty()) break;
    CHECK(link.ends_with("; rel=\"next\""));
    target = link.substr(1, link.find('>') - 1);
  }
  CHECK(seen == wanted);
}

TEST_CASE("a cursor belongs to its filters", "[recorded]") {
  ApiServer server;
  for (int i = 0; i < 3; ++i) server.add_task();
  const std::string cursor =
      parse_body(server.call("GET", "/v1/tasks?limit=1&state=queued")).at("next_cursor");
  CHECK(server.call("GET", "/v1/tasks?state=queued&cursor=" + cursor).status == 200);
  for (const std::string& target :
       {"/v1/tasks?cursor=" + cursor, "/v1/tasks?state=failed&cursor=" + cursor,
        "/v1/tasks?state=queued&cursor=x" + cursor, std::string("/v1/tasks?cursor="),
        std::string("/v1/tasks?cursor=tsk_x.0")}) {
    INFO(target);
    CHECK(server.call("GET", target).status == 400);
  }
}

TEST_CASE("filters choose tasks by state and label and time", "[recorded]") {
  ApiServer server;
  const TaskId plain = server.add_task();
  const TaskId labelled = server.on_loop([&server] {
    TaskSpec spec = make_spec();
    spec.labels = {{"team", "a"}, {"kind", "x=y"}};
    return server.service().add_task(std::move(spec));
  });
  server.on_loop([&] { server.service().end_task(plain, TaskState::failed, Reason::exit_nonzero, 3); });
  const auto ids = [&server](const std::string& query) {
    return ids_of(parse_body(server.call("GET", "/v1/tasks?" + query)));
  };
  const std::vector<std::string> both = {labelled.str(), plain.str()};
  CHECK(ids("state=failed") == std::vector<std::string>{plain.str()});
  CHECK(ids("state=failed,queued") == both);
  CHECK(ids("state=failed&state=queued") == both);
  CHECK(ids("label=team=a") == std::vector<std::string>{labelled.str()});
  CHECK(ids("label=team%3Da&label=kind=x%3Dy") == std::vector<std::string>{labelled.str()});
  CHECK(ids("label=team=b").empty());
  CHECK(ids("submitted_after=2000-01-01T00:00:00Z") == both);
  CHECK(ids("submitted_before=2000-01-01T00:00:00Z").empty());
  for (const char* query :
       {"state=done", "label=team", "label==a", "submitted_after=now", "limit=0", "limit=201", "limit=x"}) {
    INFO(query);
    CHECK(server.call("GET", std::string("/v1/tasks?") + query).status == 400);
  }
}

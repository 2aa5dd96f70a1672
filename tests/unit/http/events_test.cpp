#include <catch2/catch.hpp>

#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

std::string events_path(const TaskId& id, std::string_view query = {}) {
  return "/v1/tasks/" + id.str() + "/events" + std::string(query);
}

// A task whose feed has come to its end: queued, ended, destroyed.
TaskId add_ended_task(ApiServer& server) {
  const TaskId id = server.add_task();
  server.on_loop([&] {
    server.service().end_task(id, TaskState::succeeded, Reason::none, 0);
    server.service().add_event(id, "sandbox.destroyed");
    server.service().end_feed(id);
  });
  return id;
}

}  // namespace

TEST_CASE("a feed is told as server-sent events with durable ids to its end", "[recorded]") {
  ApiServer server;
  const TaskId id = add_ended_task(server);
  const RawResponse response = server.call("GET", events_path(id));
  CHECK(response.status == 200);
  CHECK(response.header("content-type") == "text/event-stream");
  CHECK(response.header("cache-control") == "no-store");
  CHECK(response.header("x-accel-buffering") == "no");
  CHECK_FALSE(response.cut);
  CHECK(response.body.starts_with("retry: 3000\n\nid: 1\nevent: task.queued\ndata: {"));
  CHECK(response.body.find("id: 2\nevent: task.ended\n") != std::string::npos);
  CHECK(response.body.ends_with("id: 3\nevent: end\ndata: {\"seq\":3,\"type\":\"end\"}\n\n"));
}

TEST_CASE("a feed resumes behind the id that the client has and is 204 at its end", "[recorded]") {
  ApiServer server;
  const TaskId id = add_ended_task(server);
  const RawResponse rest = server.call("GET", events_path(id), {{"Last-Event-ID", "2"}});
  CHECK(rest.body.starts_with("retry: 3000\n\nid: 3\n"));
  CHECK(server.call("GET", events_path(id, "?after=2")).body == rest.body);
  CHECK(server.call("GET", events_path(id), {{"Last-Event-ID", "3"}}).status == 204);
  CHECK(server.call("GET", events_path(id, "?after=3")).status == 204);
}

TEST_CASE("H12 ids that are none are 400", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  for (const char* bad : {"-1", "1.5", "x", "99999999999999999999", "9007199254740992", "0x1", "1 2", ""}) {
    INFO(bad);
    CHECK(server.call("GET", events_path(id), {{"Last-Event-ID", bad}}).status == 400);
  }
  CHECK(server.call("GET", events_path(id, "?after=-1")).status == 400);
  RawConnection connection = server.connect();
  connection.send("GET " + events_path(id) + " HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 1\n2\r\n\r\n");
  CHECK(connection.read_response().status == 400);
}

TEST_CASE("H12 data of a task can not forge an event", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.on_loop([&] {
    server.service().add_event(id, "task.note",
                               Json{{"text", "x\n\ndata: forged\r\nevent: end\nid: 99\n\n"}});
    server.service().end_feed(id);
  });
  const RawResponse response = server.call("GET", events_path(id));
  CHECK(response.body.find("\ndata: forged") == std::string::npos);
  CHECK(response.body.find("\nid: 99") == std::string::npos);
  CHECK(response.body.find("\\n\\ndata: forged\\r\\n") != std::string::npos);
}

TEST_CASE("scripts get the same feed as NDJSON", "[recorded]") {
  ApiServer server;
  const TaskId id = add_ended_task(server);
  const RawResponse response =
      server.call("GET", events_path(id), {{"Accept", "text/html, application/x-ndjson;q=0.9"}});
  CHECK(response.header("content-type") == "application/x-ndjson");
  std::vector<Json> lines;
  std::istringstream text(response.body);
  for (std::string line; std::getline(text, line);) lines.push_back(parse_json(line).value());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].at("type") == "task.queued");
  CHECK(lines[2].at("seq") == 3);
  CHECK(lines[3].at("type") == "end");
}

TEST_CASE("an event arrives while the client waits and heartbeats come between") {
  ApiServerOptions options;
  options.heartbeat = Millis(20);
  ApiServer server(options);
  const TaskId id = server.add_task();
  RawConnection connection = server.connect();
  connection.send(format_request("GET", events_path(id)));
  connection.read_until("event: task.queued");
  connection.read_until(": heartbeat\n\n");
  connection.read_until(": heartbeat\n\n");
  server.on_loop([&] { server.service().add_event(id, "task.running"); });
  connection.read_until("id: 2\nevent: task.running\n");
  server.on_loop([&] { server.service().end_feed(id); });
  connection.read_until("event: end\n");
  connection.read_until("0\r\n\r\n");
}

TEST_CASE("F50 readers that are gone are dropped and the others stay") {
  ApiServerOptions options;
  options.heartbeat = Millis(20);
  ApiServer server(options);
  const TaskId id = server.add_task();
  std::vector<RawConnection> readers;
  for (int i = 0; i < 50; ++i) {
    readers.push_back(i % 2 ? server.connect() : RawConnection::to_tcp(server.tcp_port()));
    readers.back().send(
        format_request("GET", events_path(id), {{"Authorization", "Bearer " + ApiServer::token()}}));
    readers.back().read_until("event: task.queued");
  }
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 50; }));
  for (std::size_t i = 0; i < 20; ++i) readers[i].close();
  for (std::size_t i = 20; i < 25; ++i) readers[i].half_close();
  CHECK(server.eventually([&server] { return server.server().open_connections() == 25; }));
  for (std::size_t i = 25; i < 50; ++i) readers[i].read_until(": heartbeat\n\n");
  CHECK(server.on_loop([&server] { return server.server().open_connections(); }) == 25);
}

TEST_CASE("F50 a reader that sends without end does not keep the stream from ending") {
  ApiServer server;
  const TaskId id = server.add_task();
  RawConnection connection = server.connect();
  connection.send(format_request("GET", events_path(id)));
  connection.read_until("event: task.queued");
  const std::string noise(100'000, 'x');
  for (int i = 0; i < 50; ++i) connection.send_what_fits(noise);
  CHECK(server.eventually([&server] { return server.service().watching() == 0; }));
}

TEST_CASE("a request behind an event stream is answered after it") {
  ApiServer server;
  const TaskId id = server.add_task();
  RawConnection connection = server.connect();
  connection.send(format_request("GET", events_path(id)) + format_request("GET", "/livez"));
  connection.read_until("event: task.queued");
  server.on_loop([&] { server.service().end_feed(id); });
  connection.read_until("0\r\n\r\n");
  CHECK(connection.read_response().status == 200);
}

TEST_CASE("HEAD of a feed answers without waiting") {
  ApiServer server;
  const RawResponse response = server.call("HEAD", events_path(server.add_task()));
  CHECK(response.status == 200);
  CHECK(response.header("content-type") == "text/event-stream");
}

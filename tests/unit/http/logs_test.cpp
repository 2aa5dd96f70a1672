#include <catch2/catch.hpp>
#include <sstream>

#include "base/digest.hpp"
#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

std::string logs_path(const TaskId& id, std::string_view query = {}) {
  return "/v1/tasks/" + id.str() + "/logs" + std::string(query);
}

// stdout "one\nthree\n", stderr "two\n", in this order.
TaskId add_task_with_log(ApiServer& server) {
  const TaskId id = server.add_task();
  server.post_output(id, LogKind::out, "one\n");
  server.post_output(id, LogKind::err, "two\n");
  server.post_output(id, LogKind::out, "three\n");
  return id;
}

void complete(ApiServer& server, const TaskId& id) {
  server.on_loop([&] { server.service().complete_log(id); });
}

std::vector<Json> lines_of(const std::string& body) {
  std::vector<Json> lines;
  std::istringstream text(body);
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(parse_json(line).value());
  }
  return lines;
}

const RawHeaders kNdjson = {{"Accept", "application/x-ndjson"}};

}  // namespace

TEST_CASE("output is given raw by stream or interleaved as stored", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  const RawResponse both = server.call("GET", logs_path(id));
  CHECK(both.body == "one\ntwo\nthree\n");
  CHECK(both.header("content-type") == "application/octet-stream");
  CHECK(both.header("x-content-type-options") == "nosniff");
  CHECK(both.header("content-length") == "14");
  CHECK(server.call("GET", logs_path(id, "?stream=stdout")).body == "one\nthree\n");
  CHECK(server.call("GET", logs_path(id, "?stream=stderr")).body == "two\n");
  CHECK(server.call("GET", logs_path(id, "?stream=stdin")).status == 400);
  CHECK(server.call("GET", logs_path(id), {{"Accept", "text/plain"}}).header("content-type") ==
        "text/plain; charset=utf-8");
}

TEST_CASE("F08 bytes of every value arrive as written", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  std::string all;
  for (int i = 0; i < 2000; ++i) {
    server.post_output(id, LogKind::out, bytes);
    all += bytes;
  }
  complete(server, id);
  RawConnection connection = server.connect();
  connection.send(format_request("GET", logs_path(id, "?stream=stdout&follow=true")));
  const RawResponse followed = connection.read_response();
  CHECK(sha256_hex(followed.body) == sha256_hex(all));
  CHECK_FALSE(followed.cut);
  connection.send(format_request("GET", logs_path(id)));
  CHECK(sha256_hex(connection.read_response().body) == sha256_hex(all));
}

TEST_CASE("reading resumes by the offsets of both streams", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  CHECK(server.call("GET", logs_path(id, "?stdout_from=4&stderr_from=1")).body == "wo\nthree\n");
  CHECK(server.call("GET", logs_path(id, "?stdout_from=6&stderr_from=4")).body == "ree\n");
  CHECK(server.call("GET", logs_path(id, "?stdout_from=1000&stderr_from=1000")).body.empty());
  CHECK(server.call("GET", logs_path(id, "?stdout_from=-1")).status == 400);
}

TEST_CASE("a range of one stream is 206 and one outside is 416", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  const RawResponse growing = server.call("GET", logs_path(id, "?stream=stdout"), {{"Range", "bytes=2-5"}});
  CHECK(growing.status == 206);
  CHECK(growing.body == "e\nth");
  CHECK(growing.header("content-range") == "bytes 2-5/*");
  complete(server, id);
  const RawResponse complete_range =
      server.call("GET", logs_path(id, "?stream=stdout"), {{"Range", "bytes=-3"}});
  CHECK(complete_range.status == 206);
  CHECK(complete_range.body == "ee\n");
  CHECK(complete_range.header("content-range") == "bytes 7-9/10");
  const RawResponse outside = server.call("GET", logs_path(id, "?stream=stdout"), {{"Range", "bytes=10-"}});
  CHECK(outside.status == 416);
  CHECK(outside.header("content-range") == "bytes */10");
  CHECK(server.call("GET", logs_path(id, "?stream=stdout")).header("accept-ranges") == "bytes");
}

TEST_CASE("a range where none can be meant is ignored as RFC 9110 allows", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  complete(server, id);
  for (const char* query : {"", "?stream=stdout&follow=true", "?stream=stdout&stdout_from=1"}) {
    const RawResponse response = server.call("GET", logs_path(id, query), {{"Range", "bytes=0-1"}});
    INFO(query);
    CHECK(response.status == 200);
    CHECK(response.header("accept-ranges").empty());
  }
  CHECK(server.call("GET", logs_path(id, "?stream=stdout"), {{"Range", "bytes=0-1"}, {"If-Range", "\"x\""}})
            .status == 200);
}

TEST_CASE("records come as NDJSON with their places and notes", "[recorded]") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.post_output(id, LogKind::out, "caf\xc3\xa9");
  server.post_output(id, LogKind::err, std::string("\xff"));
  server.post_output(id, LogKind::event, "{}");
  server.post_output(id, LogKind::truncated, R"({"stream":"stdout","dropped_bytes":7})");
  server.post_output(id, LogKind::gap, R"({"reason":"engine_restarted"})");
  complete(server, id);
  for (const char* query : {"", "?follow=true"}) {
    const RawResponse response = server.call("GET", logs_path(id, query), kNdjson);
    CHECK(response.header("content-type") == "application/x-ndjson");
    const std::vector<Json> lines = lines_of(response.body);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].at("text") == "caf\xc3\xa9");
    CHECK(lines[0].at("stream") == "stdout");
    CHECK(lines[0].at("offset") == 0);
    CHECK(lines[1].at("data_base64") == "/w==");
    CHECK(lines[2].at("kind") == "truncated");
    CHECK(lines[2].at("detail").at("dropped_bytes") == 7);
    CHECK(lines[3].at("detail").at("reason") == "engine_restarted");
  }
}

TEST_CASE("without follow a growing log ends where it stands now", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  CHECK(lines_of(server.call("GET", logs_path(id), kNdjson).body).size() == 3);
  CHECK(server.call("GET", logs_path(server.add_task())).body.empty());
  CHECK(server.call("GET", logs_path(server.add_task()), kNdjson).body.empty());
}

TEST_CASE("follow delivers output while it is written and ends with the log") {
  ApiServerOptions options;
  options.heartbeat = Millis(20);
  ApiServer server(options);
  const TaskId id = server.add_task();
  RawConnection raw = server.connect();
  raw.send(format_request("GET", logs_path(id, "?follow=true")));
  RawConnection ndjson = server.connect();
  ndjson.send(format_request("GET", logs_path(id, "?follow"), kNdjson));
  CHECK(ndjson.read_head().status == 200);
  ndjson.read_until("1\r\n\n\r\n");  // a heartbeat: an empty line
  server.post_output(id, LogKind::out, "first");
  raw.read_until("5\r\nfirst\r\n");
  ndjson.read_until("\"text\":\"first\"");
  server.post_output(id, LogKind::err, "second");
  raw.read_until("6\r\nsecond\r\n");
  complete(server, id);
  raw.read_until("0\r\n\r\n");
  ndjson.read_until("0\r\n\r\n");
}

TEST_CASE("H11 a follower that does not read is bounded and then closed and the rest goes on") {
  ApiServerOptions options;
  options.times.write = Millis(200);
  ApiServer server(options);
  const TaskId id = server.add_task();
  constexpr std::uint64_t kRecords = 1024;
  server.on_loop([&] {
    for (std::uint64_t i = 0; i < kRecords; ++i)
      server.service().add_output(id, LogKind::out, std::string(64 << 10, 'x'));
  });
  RawConnection stuck = RawConnection::to_tcp_with_small_window(server.tcp_port());
  stuck.send(format_request("GET", logs_path(id, "?follow=true"),
                            {{"Authorization", "Bearer " + ApiServer::token()}}));
  CHECK(stuck.read_head().status == 200);
  CHECK(server.call("GET", "/livez").status == 200);
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 0; }));
  const std::uint64_t read = server.on_loop([&server] { return server.service().log_bytes_read(); });
  CHECK(read < 16U << 20U);  // what the kernel's buffers took, of 64 MiB
  CHECK(server.on_loop([&server] { return server.service().watching(); }) == 0);
}

TEST_CASE("a log that fails on the way is cut and the log of the server says why") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.post_output(id, LogKind::out, "one\n");
  server.on_loop([&] {
    server.service().fail_log(id, Error{.code = ErrorCode::corrupt, .message = "segment 7 is torn"});
  });
  RawConnection connection = server.connect();
  connection.send(format_request("GET", logs_path(id, "?follow=true")));
  const RawResponse response = connection.read_response();
  CHECK(response.status == 200);
  CHECK(response.cut);
  CHECK(server.eventually([&server] { return server.server().open_connections() == 0; }));
  CHECK(server.log().text().find("segment 7 is torn") != std::string::npos);
}

TEST_CASE("a follower is cut when the server stops so that it asks again") {
  ApiServer server;
  const TaskId id = add_task_with_log(server);
  RawConnection connection = server.connect();
  connection.send(format_request("GET", logs_path(id, "?follow=true")));
  const RawResponse head = connection.read_head();
  connection.read_until("three\n");
  server.drain(Deadline::in(Millis(0)));
  CHECK(head.status == 200);
  CHECK_THROWS(connection.read_until("0\r\n\r\n"));
}

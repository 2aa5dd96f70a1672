// The server's life: descriptors, the limit of connections, drain.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <list>

#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  while (::readdir(directory)) ++count;
  ::closedir(directory);
  return count;
}

// Lowers the limit of descriptors for as long as it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &lowered);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

std::string events_request(const TaskId& id) {
  return format_request("GET", "/v1/tasks/" + id.str() + "/events");
}

}  // namespace

TEST_CASE("F34 two hundred clients that vanish leave no descriptor") {
  ApiServer server;
  const TaskId id = server.add_task();
  server.call("GET", "/livez");
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 0; }));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    RawConnection connection = i % 2 ? server.connect() : server.connect_tcp();
    if (i % 4 == 0) connection.send("GET /v1/ta");
    if (i % 4 == 1) connection.send(events_request(id));
    if (i % 4 == 2) connection.send(format_request("POST", "/v1/tasks", {{"Content-Length", "50"}}, "{"));
    if (i % 8 == 1) connection.read_until("event: task.queued");
  }
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 0; }));
  CHECK(open_descriptors() == before);
  CHECK(server.on_loop([&server] { return server.service().watching(); }) == 0);
}

TEST_CASE("F34 without descriptors accept pauses and then recovers") {
  ApiServer server;
  std::vector<RawConnection> held;
  bool paused = false;
  {
    const DescriptorLimit limit(open_descriptors() + 20);
    // Each client takes one descriptor of this same process and its connection another, so both soon run out.
    try {
      for (int i = 0; i < 50; ++i) {
        held.push_back(server.connect());
        held.back().send("GET /livez HT");
      }
    } catch (const std::runtime_error&) {
    }
    // Judged below: what reports a failure may need a descriptor, and there is none here.
    paused = server.eventually(
        [&server] { return server.log().text().find("accepting pauses") != std::string::npos; });
  }
  REQUIRE(held.size() >= 10);
  REQUIRE(paused);
  for (RawConnection& connection : held) {
    connection.send("TP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    CHECK(connection.read_response().status == 200);
  }
  CHECK(server.call("GET", "/livez").status == 200);
}

TEST_CASE("F34 more connections than allowed wait for room") {
  ApiServerOptions options;
  options.connections = 2;
  ApiServer server(options);
  RawConnection first = server.connect();
  RawConnection second = server.connect();
  RawConnection third = server.connect();
  for (RawConnection* connection : {&first, &second, &third})
    connection->send(format_request("GET", "/livez"));
  CHECK(first.read_response().status == 200);
  CHECK(second.read_response().status == 200);
  CHECK(server.on_loop([&server] { return server.server().open_connections(); }) == 2);
  first.close();
  CHECK(third.read_response().status == 200);
}

TEST_CASE("F34 silent TCP clients leave room for the Unix socket") {
  ApiServerOptions options;
  options.connections = 8;
  ApiServer server(options);
  std::list<RawConnection> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(server.connect_tcp());
  CHECK(server.eventually([&server] { return server.server().open_connections() == 4; }));
  for (int i = 0; i < 5; ++i) CHECK(server.call("GET", "/livez").status == 200);
  // The others wait for room, and get it.
  for (int i = 0; i < 19; ++i) silent.pop_front();
  silent.front().send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(silent.front().read_response().status == 200);
}

TEST_CASE("H07 hundreds of dripping clients do not keep others from their answers and are cut") {
  ApiServerOptions options;
  options.times.head = Millis(1500);
  options.times.body = Millis(1500);
  ApiServer server(options);
  std::vector<RawConnection> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(server.connect());
    slow.back().send(i % 2 ? "GET /livez HT"
                           : format_request("POST", "/v1/tasks",
                                            {{"Content-Type", "application/json"}, {"Content-Length", "100"}},
                                            "{"));
  }
  for (int i = 0; i < 20; ++i) CHECK(server.call("GET", "/livez").status == 200);
  for (RawConnection& connection : slow) {
    connection.send("x");  // one byte more buys no time
    CHECK(connection.read_response().status == 408);
  }
  slow.clear();
  CHECK(server.eventually([&server] { return server.server().open_connections() == 0; }));
}

TEST_CASE("drain closes what is idle or open-ended at once and ends") {
  ApiServer server;
  const TaskId id = server.add_task();
  RawConnection idle = server.connect();
  idle.send(format_request("GET", "/livez"));
  CHECK(idle.read_response().status == 200);
  RawConnection fresh = server.connect();
  RawConnection stream = server.connect();
  stream.send(events_request(id));
  stream.read_until("event: task.queued");
  server.drain(Deadline::never());
  CHECK(idle.is_closed_by_server());
  CHECK(fresh.is_closed_by_server());
  CHECK(stream.is_closed_by_server());
  CHECK(server.server().open_connections() == 0);
  CHECK_FALSE(std::filesystem::exists(server.socket_path()));
  CHECK_THROWS(server.connect());
  CHECK_THROWS(server.connect_tcp());
}

TEST_CASE("drain lets a request in hand finish") {
  ApiServer server;
  RawConnection connection = server.connect();
  const std::string request = format_request("POST", "/v1/tasks", kJsonBody, kSmallSpec);
  connection.send(request.substr(0, request.size() - 5));
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 1; }));
  std::thread drainer([&server] { server.drain(Deadline::never()); });
  connection.send(request.substr(request.size() - 5));
  const RawResponse response = connection.read_response();
  CHECK(response.status == 201);
  CHECK(connection.is_closed_by_server());
  drainer.join();
}

TEST_CASE("drain cuts what does not finish by its deadline") {
  ApiServer server;
  RawConnection connection = server.connect();
  connection.send("POST /v1/tasks HTTP/1.1\r\n");
  REQUIRE(server.eventually([&server] { return server.server().open_connections() == 1; }));
  server.drain(Deadline::in(Millis(20)));
  CHECK(connection.is_closed_by_server());
}

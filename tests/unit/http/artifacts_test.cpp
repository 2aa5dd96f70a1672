#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/digest.hpp"
#include "unit/http/api_server.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

std::string artifacts_path(const TaskId& id, std::string_view rest = {}) {
  return "/v1/tasks/" + id.str() + "/artifacts" + std::string(rest);
}

TaskId add_task_with(ApiServer& server, std::vector<std::pair<std::string, std::string>> files) {
  const TaskId id = server.add_task();
  server.on_loop([&] {
    for (auto& [path, content] : files) server.service().add_artifact(id, path, content);
  });
  return id;
}

}  // namespace

TEST_CASE("artifacts are listed with size and checksum and a link that works", "[recorded]") {
  ApiServer server;
  const TaskId id =
      add_task_with(server, {{"out/a b.txt", "hello"}, {"out/100%.bin", std::string(200'000, 'x')}});
  const RawResponse response = server.call("GET", artifacts_path(id));
  REQUIRE(response.status == 200);
  const Json items = parse_body(response).at("items");
  REQUIRE(items.size() == 2);
  CHECK(items[0].at("path") == "out/a b.txt");
  CHECK(items[0].at("size") == 5);
  CHECK(items[0].at("mode") == "0644");
  for (const Json& item : items) {
    const RawResponse file = server.call("GET", item.at("href").get<std::string>());
    CHECK(file.status == 200);
    CHECK(sha256_hex(file.body) == item.at("sha256").get<std::string>());
  }
}

TEST_CASE("P06 whatever a task calls its file a browser saves it and runs nothing", "[recorded]") {
  ApiServer server;
  const std::string names[] = {"evil.html",   "a\nb.svg", "q\"uote",    "%2f",
                               "back\\slash", "\xff\xfe", "semi;colon", std::string(255, 'n')};
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : names) files.emplace_back(name, "<script>alert(1)</script>");
  const TaskId id = add_task_with(server, files);
  const Json items = parse_body(server.call("GET", artifacts_path(id))).at("items");
  REQUIRE(items.size() == std::size(names));
  for (const Json& item : items) {
    const RawResponse file = server.call("GET", item.at("href").get<std::string>());
    INFO(item.at("href"));
    CHECK(file.status == 200);
    CHECK(file.header("content-type") == "application/octet-stream");
    CHECK(file.header("x-content-type-options") == "nosniff");
    CHECK(file.header("content-security-policy") == "sandbox; default-src 'none'");
    CHECK(file.header("content-disposition").starts_with("attachment; filename=\""));
    CHECK(file.header("set-cookie").empty());
  }
}

TEST_CASE("P06 V07 paths that leave the task's artifacts are refused", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with(server, {{"a/b", "x"}});
  const std::size_t before = server.on_loop([&server] { return server.service().calls(); });
  for (const char* rest : {"/../b", "/%2e%2e/b", "/a/%2e%2e/b", "/a%2fb", "/a%00", "/a//b", "/"}) {
    INFO(rest);
    const int status = server.call("GET", artifacts_path(id, rest)).status;
    CHECK((status == 400 || status == 404));
  }
  CHECK(server.on_loop([&server] { return server.service().calls(); }) == before);
  CHECK(server.call("GET", artifacts_path(id, "/a/c")).status == 404);
  CHECK(server.call("GET", artifacts_path(id, "/a")).status == 404);
}

TEST_CASE("a part of an artifact is 206 while the content is the same", "[recorded]") {
  ApiServer server;
  const TaskId id = add_task_with(server, {{"f", "0123456789"}});
  const std::string etag = '"' + sha256_hex("0123456789") + '"';
  const RawResponse part = server.call("GET", artifacts_path(id, "/f"), {{"Range", "bytes=3-5"}});
  CHECK(part.status == 206);
  CHECK(part.body == "345");
  CHECK(part.header("content-range") == "bytes 3-5/10");
  CHECK(part.header("etag") == etag);
  CHECK(server.call("GET", artifacts_path(id, "/f"), {{"Range", "bytes=3-5"}, {"If-Range", etag}}).status ==
        206);
  CHECK(server.call("GET", artifacts_path(id, "/f"), {{"Range", "bytes=3-5"}, {"If-Range", "\"old\""}})
            .status == 200);
  const RawResponse outside = server.call("GET", artifacts_path(id, "/f"), {{"Range", "bytes=10-"}});
  CHECK(outside.status == 416);
  CHECK(outside.header("content-range") == "bytes */10");
  CHECK(server.call("GET", artifacts_path(id, "/f"), {{"If-None-Match", etag}}).status == 304);
  const RawResponse head = server.call("HEAD", artifacts_path(id, "/f"));
  CHECK(head.header("content-length") == "10");
}

TEST_CASE("F28 all artifacts come as one tar that another program reads", "[recorded]") {
  ApiServer server;
  const std::string deep = std::string(90, 'd') + "/" + std::string(200, 'f');
  const std::vector<std::pair<std::string, std::string>> files = {{"a.txt", "hello"},
                                                                  {"empty", ""},
                                                                  {"out/block", std::string(512, 'b')},
                                                                  {deep, "deep"},
                                                                  {"caf\xc3\xa9 \n\"x", "odd"},
                                                                  {"out/big", std::string(300'000, 'x')}};
  const TaskId id = add_task_with(server, files);
  server.on_loop([&] { server.service().end_task(id, TaskState::succeeded, Reason::none, 0); });
  const RawResponse response = server.call("GET", "/v1/tasks/" + id.str() + "/artifacts.tar");
  REQUIRE(response.status == 200);
  CHECK(response.header("content-type") == "application/x-tar");
  CHECK_FALSE(response.cut);
  const TempDir dir;
  std::ofstream(dir.path() / "all.tar") << response.body;
  const std::filesystem::path target = dir.path() / "target";
  std::filesystem::create_directory(target);
  const std::string command =
      "tar -xf " + (dir.path() / "all.tar").string() + " -C " + target.string() + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  for (const auto& [path, content] : files) {
    std::ifstream file(target / path, std::ios::binary);
    INFO(path);
    REQUIRE(file);
    CHECK(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()) == content);
  }
}

TEST_CASE("a tar of no artifacts is an empty archive", "[recorded]") {
  ApiServer server;
  const RawResponse response = server.call("GET", "/v1/tasks/" + server.add_task().str() + "/artifacts.tar");
  CHECK(response.body == std::string(1024, '\0'));
}

#include "http/listener.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "support/temp_dir.hpp"

using namespace mayfly;
using namespace mayfly::http;

namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

// A socket file as a killed server leaves it.
void leave_dead_socket(const std::filesystem::path& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(fd);
}

ErrorCode code_of(const Result<Listener>& listener) {
  REQUIRE_FALSE(listener);
  return listener.error().code;
}

}  // namespace

TEST_CASE("S06 the Unix socket is 0600 in a directory of 0700 and goes away with its server") {
  const test::TempDir dir;
  const auto path = dir.path() / "run" / "mayfly" / "api.sock";
  {
    const auto listener = Listener::on_unix(path);
    REQUIRE(listener);
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(path.parent_path()) == 0700);
    CHECK(listener->transport() == Transport::unix_socket);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a socket that a dead server left is replaced") {
  const test::TempDir dir;
  const auto path = dir.path() / "api.sock";
  leave_dead_socket(path);
  const auto listener = Listener::on_unix(path);
  REQUIRE(listener);
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("a socket that somebody answers on is left alone") {
  const test::TempDir dir;
  const auto path = dir.path() / "api.sock";
  const auto first = Listener::on_unix(path);
  REQUIRE(first);
  CHECK(code_of(Listener::on_unix(path)) == ErrorCode::conflict);
  CHECK(std::filesystem::exists(path));
  // Also without the lock: the one who answers may be no Mayfly.
  std::filesystem::remove(path.native() + ".lock");
  CHECK(code_of(Listener::on_unix(path)) == ErrorCode::conflict);
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a file that is no socket is never removed") {
  const test::TempDir dir;
  const auto path = dir.path() / "precious";
  std::ofstream(path) << "data";
  CHECK(code_of(Listener::on_unix(path)) == ErrorCode::forbidden);
  CHECK(std::filesystem::file_size(path) == 4);
}

TEST_CASE("S06 a directory that others may write to is refused") {
  const test::TempDir dir;
  const auto open = dir.path() / "open";
  std::filesystem::create_directory(open);
  ::chmod(open.c_str(), 0777);
  CHECK(code_of(Listener::on_unix(open / "api.sock")) == ErrorCode::forbidden);
}

TEST_CASE("a socket path that the kernel can not hold is refused") {
  const test::TempDir dir;
  CHECK(code_of(Listener::on_unix(dir.path() / std::string(120, 'x'))) == ErrorCode::invalid_argument);
}

TEST_CASE("only loopback addresses are listened on") {
  CHECK(parse_tcp_address("127.0.0.1:8080")->port == 8080);
  CHECK(parse_tcp_address("localhost:1")->host == "127.0.0.1");
  CHECK(parse_tcp_address("[::1]:1")->host == "::1");
  CHECK(parse_tcp_address(":0")->host == "127.0.0.1");
  for (const char* text : {"0.0.0.0:80", "10.0.0.1:80", "[::]:80", "[fe80::1]:80", "192.168.1.1:1"}) {
    INFO(text);
    CHECK(parse_tcp_address(text).error().code == ErrorCode::forbidden);
  }
  for (const char* text : {"", "80", "example.com:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:80x"}) {
    INFO(text);
    CHECK(parse_tcp_address(text).error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("port 0 takes a free port and says which") {
  const auto listener = Listener::on_tcp({.host = "127.0.0.1", .port = 0});
  REQUIRE(listener);
  CHECK(listener->port() != 0);
  CHECK(listener->transport() == Transport::tcp);
}

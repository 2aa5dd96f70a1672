// Listening sockets, made safely. Used by Server at start. Blocking calls, all of them short.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "http/http_types.hpp"

namespace mayfly::http {

struct TcpAddress {
  std::string host;  // 127.0.0.0/8 or ::1
  std::uint16_t port = 0;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or ":8080". Port 0 takes a free one. forbidden for an
// address that is not loopback: there is no TLS yet.
Result<TcpAddress> parse_tcp_address(std::string_view text);

// A bound and listening socket; destroyed, it closes, and its Unix socket file is removed.
class Listener {
 public:
  // Mode 0600 from its first moment, in a directory of ours (made with 0700). A lock beside it keeps two
  // servers apart; a file that a dead server left is replaced. conflict when a server answers, forbidden for
  // an unsafe directory or a path that is no socket.
  static Result<Listener> on_unix(const std::filesystem::path& path);
  static Result<Listener> on_tcp(const TcpAddress& address);

  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return socket_.get(); }
  int release() { return socket_.release(); }
  int family() const { return family_; }
  Transport transport() const { return path_.empty() ? Transport::tcp : Transport::unix_socket; }
  std::uint16_t port() const { return port_; }  // 0 for a Unix socket

 private:
  Listener(FileDescriptor socket, int family) : socket_(std::move(socket)), family_(family) {}

  FileDescriptor socket_;
  FileDescriptor lock_;
  int family_;
  std::uint16_t port_ = 0;
  std::filesystem::path path_;  // to remove
};

}  // namespace mayfly::http

#include "support/raw_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace mayfly::test {
namespace {

constexpr int kCapMs = 20'000;

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

int connect_tcp(std::uint16_t port, int receive_buffer) {
  const int fd = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  if (receive_buffer != 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  checked(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  return fd;
}

bool says(const RawHeaders& headers, const std::string& name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&name](const auto& header) { return lowered(header.first) == name; });
}

}  // namespace

std::string RawResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::string format_request(std::string_view method, std::string_view target, const RawHeaders& headers,
                           std::string_view body) {
  std::string text = std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\n";
  if (!says(headers, "host")) text += "Host: localhost\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  const bool framed = says(headers, "content-length") || says(headers, "transfer-encoding");
  if (!body.empty() && !framed) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + std::string(body);
}

RawConnection RawConnection::to_unix(const std::filesystem::path& path) {
  const int fd = checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  checked(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  return RawConnection(fd);
}

RawConnection RawConnection::to_tcp(std::uint16_t port) {
  return RawConnection(connect_tcp(port, 0));
}

RawConnection RawConnection::to_tcp_with_small_window(std::uint16_t port) {
  return RawConnection(connect_tcp(port, 4096));
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

RawConnection::~RawConnection() {
  close();
}

void RawConnection::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void RawConnection::half_close() {
  ::shutdown(fd_, SHUT_WR);
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::size_t RawConnection::send_what_fits(std::string_view bytes) {
  const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

bool RawConnection::fill() {
  pollfd poller{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&poller, 1, kCapMs) == 0) {
    throw std::runtime_error("nothing came for 20 s; so far: '" + buffer_.substr(0, 500) + "'");
  }
  char bytes[16384];
  const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

std::string RawConnection::take_line() {
  std::string line = read_until("\r\n");
  line.resize(line.size() - 2);
  return line;
}

std::string RawConnection::read_until(std::string_view text) {
  for (std::size_t from = 0;;) {
    const std::size_t found = buffer_.find(text, from);
    if (found != std::string::npos) {
      std::string result = buffer_.substr(0, found + text.size());
      buffer_.erase(0, found + text.size());
      return result;
    }
    from = buffer_.size() > text.size() ? buffer_.size() - text.size() : 0;
    if (!fill())
      throw std::runtime_error("closed before '" + std::string(text) + "'; so far: '" + buffer_ + "'");
  }
}

RawResponse RawConnection::read_head() {
  RawResponse response;
  for (;;) {
    const std::string status_line = take_line();
    if (status_line.substr(0, 9) != "HTTP/1.1 ")
      throw std::runtime_error("not a status line: " + status_line);
    response.status = std::stoi(status_line.substr(9, 3));
    for (std::string line = take_line(); !line.empty(); line = take_line()) {
      const std::size_t colon = line.find(": ");
      response.headers[lowered(line.substr(0, colon))] = line.substr(colon + 2);
    }
    if (response.status >= 200) return response;
    response.interim.push_back(response.status);
    response.headers.clear();
  }
}

RawResponse RawConnection::read_response(Body body) {
  RawResponse response = read_head();
  if (body == Body::expected && response.status != 204 && response.status != 304) read_body(response);
  return response;
}

void RawConnection::read_body(RawResponse& response) {
  if (response.header("transfer-encoding") == "chunked") return read_chunks(response);
  const std::string length = response.header("content-length");
  const std::size_t wanted = length.empty() ? SIZE_MAX : std::stoull(length);
  while (buffer_.size() < wanted && fill()) {
  }
  const std::size_t taken = std::min(wanted, buffer_.size());
  response.body = buffer_.substr(0, taken);
  response.cut = !length.empty() && taken < wanted;
  buffer_.erase(0, taken);
}

void RawConnection::read_chunks(RawResponse& response) {
  try {
    for (;;) {
      const std::size_t size = std::stoull(take_line(), nullptr, 16);
      while (buffer_.size() < size + 2) {
        if (!fill()) throw std::runtime_error("closed inside of a chunk");
      }
      response.body += buffer_.substr(0, size);
      buffer_.erase(0, size + 2);
      if (size == 0) return;
    }
  } catch (const std::exception&) {
    response.cut = true;
  }
}

bool RawConnection::is_closed_by_server() {
  try {
    while (fill()) buffer_.clear();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace mayfly::test

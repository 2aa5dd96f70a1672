#include "http/listener.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace mayfly::http {
namespace {

constexpr int kBacklog = 256;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<FileDescriptor> make_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail_errno("socket", errno);
  return FileDescriptor(fd);
}

Result<Address> unix_address(const std::filesystem::path& path) {
  Address address;
  sockaddr_un un{};
  const std::string& text = path.native();
  if (text.size() >= sizeof un.sun_path) {
    return fail(ErrorCode::invalid_argument, "the socket path " + text + " is longer than " +
                                                 std::to_string(sizeof un.sun_path - 1) + " bytes");
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, text.c_str(), text.size() + 1);
  std::memcpy(&address.storage, &un, sizeof un);
  address.length = sizeof un;
  return address;
}

Result<FileDescriptor> lock_beside(const std::filesystem::path& path) {
  auto lock = open_file(path.native() + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!lock) return lock;
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return fail(ErrorCode::conflict, "another server owns the socket " + path.native());
}

// With the lock held, a socket that somebody answers on is not Mayfly's: it is left alone.
Result<void> remove_stale_socket(const std::filesystem::path& path, const Address& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT ? Result<void>{} : fail_errno("stat " + path.native(), errno);
  if (!S_ISSOCK(status.st_mode)) {
    return fail(ErrorCode::forbidden, path.native() + " exists and is not a socket; it was not touched");
  }
  auto probe = make_socket(AF_UNIX);
  if (!probe) return fail_with(std::move(probe));
  if (::connect(probe->get(), address.get(), address.length) == 0 || errno == EAGAIN) {
    return fail(ErrorCode::conflict, "a server answers on " + path.native());
  }
  if (errno != ECONNREFUSED) return fail_errno("connect " + path.native(), errno);
  if (::unlink(path.c_str()) != 0) return fail_errno("unlink " + path.native(), errno);
  return {};
}

Result<Address> tcp_address(const TcpAddress& tcp) {
  Address address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, tcp.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(tcp.port);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.length = sizeof v4;
  } else if (::inet_pton(AF_INET6, tcp.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(tcp.port);
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.length = sizeof v6;
  } else {
    return fail(ErrorCode::invalid_argument, "'" + tcp.host + "' is not an IP address");
  }
  return address;
}

bool is_loopback(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == 127;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
}

std::uint16_t bound_port(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (::getsockname(fd, address.get(), &address.length) != 0) return 0;
  return address.storage.ss_family == AF_INET
             ? ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port)
             : ntohs(reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port);
}

}  // namespace

Result<TcpAddress> parse_tcp_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  TcpAddress result;
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is not ADDRESS:PORT, such as 127.0.0.1:8080");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  result.host = host.empty() || host == "localhost" ? "127.0.0.1" : std::string(host);
  auto address = tcp_address(result);
  if (!address) return fail_with(std::move(address));
  if (!is_loopback(*address)) {
    return fail(ErrorCode::forbidden,
                "'" + result.host + "' is not a loopback address; put a TLS proxy in front");
  }
  return result;
}

Result<Listener> Listener::on_unix(const std::filesystem::path& path) {
  if (auto made = make_private_directory(path.parent_path()); !made) return fail_with(std::move(made));
  auto address = unix_address(path);
  if (!address) return fail_with(std::move(address));
  auto lock = lock_beside(path);
  if (!lock) return fail_with(std::move(lock));
  if (auto removed = remove_stale_socket(path, *address); !removed) return fail_with(std::move(removed));
  auto socket = make_socket(AF_UNIX);
  if (!socket) return fail_with(std::move(socket));
  if (::bind(socket->get(), address->get(), address->length) != 0)
    return fail_errno("bind " + path.native(), errno);
  Listener listener(std::move(*socket), AF_UNIX);
  listener.lock_ = std::move(*lock);
  listener.path_ = path;
  // Until listen(2) nobody can connect, so the mode is right before the first client. No umask: it is the
  // process's.
  if (::chmod(path.c_str(), 0600) != 0) return fail_errno("chmod " + path.native(), errno);
  if (::listen(listener.fd(), kBacklog) != 0) return fail_errno("listen " + path.native(), errno);
  return listener;
}

Result<Listener> Listener::on_tcp(const TcpAddress& tcp) {
  auto address = tcp_address(tcp);
  if (!address) return fail_with(std::move(address));
  if (!is_loopback(*address)) return fail(ErrorCode::forbidden, tcp.host + " is not a loopback address");
  const int family = address->storage.ss_family;
  auto socket = make_socket(family);
  if (!socket) return fail_with(std::move(socket));
  const int yes = 1;
  ::setsockopt(socket->get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const std::string name = tcp.host + ':' + std::to_string(tcp.port);
  if (::bind(socket->get(), address->get(), address->length) != 0) return fail_errno("bind " + name, errno);
  if (::listen(socket->get(), kBacklog) != 0) return fail_errno("listen " + name, errno);
  Listener listener(std::move(*socket), family);
  listener.port_ = bound_port(listener.fd());
  return listener;
}

Listener::~Listener() {
  if (!path_.empty() && lock_) ::unlink(path_.c_str());
}

}  // namespace mayfly::http

#include "docker_api/engine_address.hpp"

#include <sys/un.h>

#include "base/bytes.hpp"
#include "base/utf8.hpp"

namespace mayfly::docker {

namespace {

constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kDefaultSocket = "/var/run/docker.sock";
constexpr std::size_t kMostPath = sizeof(sockaddr_un::sun_path) - 1;

tl::unexpected<Error> refuse(std::string_view text) {
  return fail(
      ErrorCode::invalid_argument,
      "the engine's address \"" + escape_for_terminal(text) +
          "\" is none that Mayfly takes: unix:///path/of/socket (at most 107 bytes), or "
          "tcp://127.0.0.1:PORT, tcp://[::1]:PORT, tcp://localhost:PORT (plain TCP only to this machine)");
}

// Names are not resolved: the loopback addresses are the only ones there are.
std::string loopback_address(std::string_view host) {
  if (host == "127.0.0.1" || host == "localhost") return "127.0.0.1";
  if (host == "[::1]") return "::1";
  return {};
}

Result<EngineAddress> parse_tcp(std::string_view text) {
  std::string_view rest = text.substr(kTcp.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refuse(text);
  const std::string host = loopback_address(rest.substr(0, colon));
  const auto port = parse_decimal(rest.substr(colon + 1));
  if (host.empty() || !port || *port == 0 || *port > 65535) return refuse(text);
  return EngineAddress{EngineAddress::Kind::tcp, host, std::to_string(*port)};
}

}  // namespace

Result<EngineAddress> parse_engine_address(std::string_view text) {
  if (text.empty()) return EngineAddress{EngineAddress::Kind::unix_socket, std::string(kDefaultSocket), ""};
  if (text.starts_with(kTcp)) return parse_tcp(text);
  if (!text.starts_with(kUnix)) return refuse(text);
  const std::string_view path = text.substr(kUnix.size());
  const bool good =
      path.starts_with('/') && path.size() <= kMostPath && path.find('\0') == std::string_view::npos;
  if (!good) return refuse(text);
  return EngineAddress{EngineAddress::Kind::unix_socket, std::string(path), ""};
}

std::string format_engine_address(const EngineAddress& address) {
  if (address.kind == EngineAddress::Kind::unix_socket) return std::string(kUnix) + address.path_or_host;
  const bool is_v6 = address.path_or_host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + address.path_or_host + "]" : address.path_or_host;
  return std::string(kTcp) + host + ":" + address.port;
}

}  // namespace mayfly::docker

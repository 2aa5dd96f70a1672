#include "docker_api/engine_socket.hpp"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

namespace mayfly::docker {

namespace {

using Endpoint = asio::generic::stream_protocol::endpoint;

Endpoint endpoint_of(const EngineAddress& address) {
  if (address.kind == EngineAddress::Kind::unix_socket)
    return asio::local::stream_protocol::endpoint(address.path_or_host);
  const auto port = static_cast<asio::ip::port_type>(std::stoi(address.port));
  return asio::ip::tcp::endpoint(asio::ip::make_address(address.path_or_host), port);
}

}  // namespace

Async<EngineSocket> connect_engine(asio::any_io_executor executor, EngineAddress address) {
  EngineSocket socket(executor);
  const Endpoint endpoint = endpoint_of(address);
  const auto [error] = co_await socket.async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
  if (error)
    co_return fail(ErrorCode::engine_unreachable, "no engine at " + format_engine_address(address) + ": " +
                                                      error.message() +
                                                      " (is it running, and may this user open it?)");
  if (address.kind == EngineAddress::Kind::tcp) {
    boost::system::error_code ignored;  // only slower without it
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  }
  co_return socket;
}

bool is_idle(EngineSocket& socket) {
  char probe = 0;
  const auto got = ::recv(socket.native_handle(), &probe, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace mayfly::docker

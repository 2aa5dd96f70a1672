// Accepts connections on a Unix socket and on loopback TCP, and keeps their number, their patience and their
// end in hand. Made by main (serve) and by tests. All calls from the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <list>
#include <memory>
#include <optional>

#include "async/notifier.hpp"
#include "async/scope.hpp"
#include "http/connection.hpp"
#include "http/listener.hpp"

namespace mayfly::http {

struct ServerOptions {
  std::filesystem::path unix_socket;  // empty: none
  std::optional<TcpAddress> tcp;
  ConnectionTimes times;
  // At once; more wait in the kernel's queue. Never more than half of the descriptors that the process may
  // have; of them TCP, where anybody of this machine can connect, gets at most half.
  std::size_t connections = 1024;
  Millis accept_pause{std::chrono::milliseconds(100)};  // after the process ran out of descriptors or memory
};

class Server {
 public:
  Server(asio::any_io_executor executor, ServerOptions options, RequestHandler& handler, Logger& log);
  ~Server();  // after drain

  // Binds and begins to accept. Either all sockets are open, or none and the first error.
  Result<void> start();
  // Stops accepting, closes what is idle or open-ended at once, lets the rest finish until the deadline, then
  // cuts it. Completes when no connection is left. A client of a cut stream resumes by its last id or offset.
  asio::awaitable<void> drain(Deadline deadline);

  std::uint16_t tcp_port() const { return tcp_port_; }
  std::size_t open_connections() const { return connections_.size(); }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
  struct Door;
  class Place;

  Result<void> open(Result<Listener> listener);
  asio::awaitable<void> accept_loop(Door& door);
  asio::awaitable<void> wait_for_room(const Door& door);
  asio::awaitable<void> serve(StreamSocket socket, Transport transport, std::unique_ptr<Place> place);
  void close_doors();

  ServerOptions options_;
  RequestHandler& handler_;
  Logger& log_;
  Scope scope_;
  Notifier room_;
  std::list<std::unique_ptr<Door>> doors_;
  std::list<Connection*> connections_;
  std::size_t places_ = 0;  // taken, over all doors
  std::uint16_t tcp_port_ = 0;
  bool draining_ = false;
};

}  // namespace mayfly::http

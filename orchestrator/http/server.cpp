#include "http/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/with_deadline.hpp"

namespace mayfly::http {
namespace {

std::size_t allowed_connections(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  return std::min<std::size_t>(wanted, std::max<rlim_t>(limit.rlim_cur / 2, 4));
}

void set_option(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

// A peer that vanished without a word is noticed in about three quarters of a minute: while we send by the
// user timeout, while nothing is sent by keep-alive probes.
void set_tcp_options(int fd, Millis write_time) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(write_time.count()));
}

// Whether accept failed because we have no room, not because of the client.
bool is_exhausted(const boost::system::error_code& error) {
  return error == boost::system::errc::too_many_files_open ||
         error == boost::system::errc::too_many_files_open_in_system ||
         error == boost::system::errc::no_buffer_space || error == boost::system::errc::not_enough_memory;
}

// A connection's entry in the server's list, for as long as its coroutine lives.
class Registration {
 public:
  Registration(std::list<Connection*>& list, Connection& connection)
      : list_(list), entry_(list.insert(list.end(), &connection)) {}
  ~Registration() { list_.erase(entry_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  std::list<Connection*>& list_;
  std::list<Connection*>::iterator entry_;
};

}  // namespace

// One listening socket. The listener keeps the lock and removes the file; the acceptor owns the descriptor.
struct Server::Door {
  Door(const asio::any_io_executor& executor, Listener opened)
      : listener(std::move(opened)),
        acceptor(executor, asio::generic::stream_protocol(listener.family(), 0), listener.release()) {}
  Listener listener;
  Acceptor acceptor;
  std::size_t places = 0;  // taken
};

// What a connection counts for, from its accept on.
class Server::Place {
 public:
  Place(Server& server, Door& door) : server_(server), door_(door) {
    ++server_.places_;
    ++door_.places;
  }
  ~Place() {
    --server_.places_;
    --door_.places;
    server_.room_.notify();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  Server& server_;
  Door& door_;
};

Server::Server(asio::any_io_executor executor, ServerOptions options, RequestHandler& handler, Logger& log)
    : options_(std::move(options)),
      handler_(handler),
      log_(log),
      scope_(executor, log),
      room_(std::move(executor)) {
  options_.connections = allowed_connections(options_.connections);
}

Server::~Server() = default;

Result<void> Server::start() {
  if (!options_.unix_socket.empty()) {
    if (auto opened = open(Listener::on_unix(options_.unix_socket)); !opened) return opened;
  }
  if (options_.tcp) {
    if (auto opened = open(Listener::on_tcp(*options_.tcp)); !opened) return opened;
    tcp_port_ = doors_.back()->listener.port();
  }
  for (const auto& door : doors_) scope_.spawn("http accept", accept_loop(*door));
  return {};
}

Result<void> Server::open(Result<Listener> listener) {
  if (!listener) {
    doors_.clear();
    return fail_with(std::move(listener));
  }
  doors_.push_back(std::make_unique<Door>(scope_.executor(), std::move(*listener)));
  return {};
}

asio::awaitable<void> Server::accept_loop(Door& door) {
  while (!draining_) {
    co_await wait_for_room(door);
    if (draining_) co_return;
    boost::system::error_code error;
    StreamSocket socket =
        co_await door.acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      auto place = std::make_unique<Place>(*this, door);
      scope_.spawn("http connection", serve(std::move(socket), door.listener.transport(), std::move(place)));
    } else if (is_exhausted(error)) {
      log_.warn("http", "no room for a new connection; accepting pauses", {{"what", error.message()}});
      co_await sleep_until(Deadline::in(options_.accept_pause));
    }
  }
}

// So many silent clients of the door without credentials never keep the owner from the other one.
asio::awaitable<void> Server::wait_for_room(const Door& door) {
  const bool is_tcp = door.listener.transport() == Transport::tcp;
  const std::size_t most = is_tcp ? options_.connections / 2 : options_.connections;
  while (!draining_ && (places_ >= options_.connections || door.places >= most))
    co_await room_.wait(Deadline::never());
}

asio::awaitable<void> Server::serve(StreamSocket socket, Transport transport,
                                    [[maybe_unused]] std::unique_ptr<Place> place) {
  if (draining_) co_return;  // accepted a moment too late
  if (transport == Transport::tcp) set_tcp_options(socket.native_handle(), options_.times.write);
  Connection connection(std::move(socket), transport, options_.times, handler_);
  const Registration registration(connections_, connection);
  co_await connection.serve();
}

void Server::close_doors() {
  for (const auto& door : doors_) {
    boost::system::error_code ignored;
    door->acceptor.close(ignored);
  }
  room_.notify();
}

asio::awaitable<void> Server::drain(Deadline deadline) {
  draining_ = true;
  close_doors();
  for (Connection* connection : connections_) connection->drain();
  while (places_ > 0 && !deadline.passed()) co_await room_.wait(deadline);
  scope_.cancel();
  co_await scope_.drain();
  doors_.clear();
}

}  // namespace mayfly::http

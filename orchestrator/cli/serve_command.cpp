#include "cli/serve_command.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>

#include "cli/exit_codes.hpp"
#include "http/api.hpp"
#include "http/server.hpp"
#include "http/token_file.hpp"

namespace mayfly::cli {
namespace {

constexpr Millis kConnectionDrain = std::chrono::seconds(10);

int refuse(Logger& log, const Error& error) {
  log.error("serve", error.message);
  for (const FieldFault& field : error.fields) log.error("serve", field.detail, {{"at", field.pointer}});
  return error.code == ErrorCode::invalid_argument ? kUsage : kOrchestrator;
}

http::ServerOptions listen_options(const ServeOptions& options, std::optional<http::TcpAddress> tcp) {
  http::ServerOptions listen;
  listen.unix_socket = options.socket;
  listen.tcp = std::move(tcp);
  return listen;
}

// Listeners before a node, from start to a graceful end.
class Service {
 public:
  Service(asio::io_context& io, const ServeOptions& options, Node& node, std::string token, Metrics& metrics,
          Logger& log, std::optional<http::TcpAddress> tcp)
      : options_(options),
        node_(node),
        log_(log),
        signals_(io, SIGTERM, SIGINT),
        api_(node.control_plane(), node.pool(), metrics, log, {.bearer_token = std::move(token)}),
        server_(io.get_executor(), listen_options(options, std::move(tcp)), api_, log) {}

  asio::awaitable<int> run();

 private:
  asio::awaitable<void> shut_down();

  const ServeOptions& options_;
  Node& node_;
  Logger& log_;
  asio::signal_set signals_;
  http::Api api_;
  http::Server server_;
};

asio::awaitable<int> Service::run() {
  auto started = co_await node_.control_plane().start();
  if (started) started = server_.start();
  if (!started) {
    const int code = refuse(log_, started.error());
    co_await node_.close();
    co_return code;
  }
  log_.info("serve", "ready",
            {{"socket", options_.socket.string()},
             {"tcp_port", std::to_string(server_.tcp_port())},
             {"policy_version", node_.policy().version}});
  co_await signals_.async_wait(asio::use_awaitable);
  co_await shut_down();
  co_return kOk;
}

asio::awaitable<void> Service::shut_down() {
  log_.info("serve", options_.drain ? "stopping: waiting for running tasks"
                                    : "stopping: running tasks stay for the successor");
  node_.control_plane().drain();
  using namespace asio::experimental::awaitable_operators;
  // A second signal stops without waiting.
  if (options_.drain) co_await (node_.control_plane().idle() || signals_.async_wait(asio::use_awaitable));
  co_await server_.drain(Deadline::in(kConnectionDrain));
  co_await node_.close();
  log_.info("serve", "stopped");
}

Result<std::string> token_for(const ServeOptions& options) {
  if (!options.listen) return std::string();
  return http::load_or_make_token(options.token_file.value_or(options.node.data_dir / "token"));
}

}  // namespace

int serve(ServeOptions options) {
  FdLogger log(STDERR_FILENO, options.log_format, options.log_level);
  std::optional<http::TcpAddress> tcp;
  if (options.listen) {
    auto parsed = http::parse_tcp_address(*options.listen);
    if (!parsed) return refuse(log, parsed.error());
    tcp = std::move(*parsed);
  }
  if (options.socket.empty()) options.socket = options.node.data_dir / "mayfly.sock";
  std::signal(SIGPIPE, SIG_IGN);

  const SystemClock clock;
  Metrics metrics;
  metrics.set("mayfly_build_info", 1, {{"version", MAYFLY_VERSION}});
  asio::io_context io(1);
  auto node = Node::open(io, options.node, clock, metrics, log);
  if (!node) return refuse(log, node.error());
  auto token = token_for(options);
  if (!token) return refuse(log, token.error());

  int code = kOrchestrator;
  Service service(io, options, **node, std::move(*token), metrics, log, std::move(tcp));
  auto finished = [&code](const std::exception_ptr& thrown, int result) {
    if (thrown) std::rethrow_exception(thrown);
    code = result;
  };
  asio::co_spawn(io, service.run(), finished);
  io.run();
  return code;
}

}  // namespace mayfly::cli

#include "docker_api/engine_connection.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace mayfly::docker {

namespace {

constexpr std::size_t kReadSize = 32U << 10U;
constexpr std::size_t kMostUpgradeRefusal = 64U << 10U;

// The engine's server refuses a request without a Host and looks at nothing in it.
std::string head_of(const HttpRequest& request, std::string_view connection) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: docker\r\nUser-Agent: mayfly/{}\r\n{}",
                                 request.method, request.target, MAYFLY_VERSION, connection);
  if (!request.body.empty()) head += fmt::format("Content-Type: {}\r\n", request.content_type);
  if (request.method != "GET") head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n";
}

tl::unexpected<Error> broken(const char* what, const boost::system::error_code& why) {
  if (why == asio::error::operation_aborted)
    return fail(ErrorCode::cancelled, fmt::format("given up while {}", what));
  return fail(ErrorCode::engine_unreachable,
              fmt::format("the connection to the engine broke while {}: {}", what, why.message()));
}

}  // namespace

Async<> EngineConnection::send(const HttpRequest& request, Wish wish) {
  const std::string head =
      head_of(request, wish == Wish::upgrade ? "Connection: Upgrade\r\nUpgrade: tcp\r\n" : "");
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(request.body)};
  const auto [error, sent] = co_await asio::async_write(socket_, parts, asio::as_tuple(asio::use_awaitable));
  if (error) co_return broken("sending", error);
  co_return Result<>();
}

Async<> EngineConnection::receive(HttpAnswerParser& parser) {
  std::array<std::byte, kReadSize> piece;
  while (!parser.is_done()) {
    const auto space = asio::buffer(piece);
    const auto [error, size] = co_await socket_.async_read_some(space, asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::eof) co_return parser.finish();
    if (error) co_return broken("reading", error);
    got_nothing_ = false;
    if (auto fed = parser.feed(std::span(piece).first(size)); !fed) co_return fed;
  }
  co_return Result<>();
}

// An engine that refuses a request may answer and close before it has read all of the body, so a failed send
// is not the end: what it said is read all the same.
Async<> EngineConnection::converse(const HttpRequest& request, Wish wish, HttpAnswerParser& parser) {
  keeps_alive_ = false;
  got_nothing_ = true;
  const auto sent = co_await send(request, wish);
  auto received = co_await receive(parser);
  if (!received) co_return sent || !got_nothing_ ? received : sent;
  keeps_alive_ = sent && parser.keeps_alive();
  co_return Result<>();
}

Async<HttpAnswer> EngineConnection::exchange(const HttpRequest& request, std::size_t most_body) {
  HttpAnswerParser parser(most_body);
  if (auto done = co_await converse(request, Wish::answer, parser); !done)
    co_return fail_with(std::move(done));
  co_return parser.take_answer();
}

Async<EngineConnection::Upgraded> EngineConnection::upgrade(const HttpRequest& request) {
  HttpAnswerParser parser(kMostUpgradeRefusal);
  if (auto done = co_await converse(request, Wish::upgrade, parser); !done)
    co_return fail_with(std::move(done));
  Upgraded upgraded;
  upgraded.head.assign(parser.rest().begin(), parser.rest().end());
  upgraded.answer = parser.take_answer();
  co_return upgraded;
}

}  // namespace mayfly::docker

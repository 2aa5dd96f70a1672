// The lower half of Connection: bytes in and out under deadlines, and bodies that are made while they are
// sent.
#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>

#include "async/with_deadline.hpp"
#include "http/connection.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kReceiveBytes = 8U << 10U;
constexpr std::size_t kPieceBytes = 64U << 10U;
constexpr std::size_t kPipelinedBytes = 64U << 10U;  // that a client may send ahead while it reads a stream

std::string chunk_head(std::size_t size) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string digits;
  for (; size != 0; size >>= 4U) digits.insert(digits.begin(), kHex[size & 15U]);
  return digits + "\r\n";
}

// How a body ended, its exception as a value: `||` would otherwise wait for the other side after a throw.
struct BodyEnd {
  Result<> result;
  std::exception_ptr thrown;
};

asio::awaitable<BodyEnd> run_body(StreamingBody& body, BodyWriter& writer) {
  BodyEnd end;
  try {
    end.result = co_await body.write_to(writer);
  } catch (...) {
    end.thrown = std::current_exception();
  }
  co_return end;
}

}  // namespace

// Frames the pieces of a streaming body.
class Connection::StreamWriter final : public BodyWriter {
 public:
  StreamWriter(Connection& connection, Framing framing) : connection_(connection), framing_(framing) {}

  Async<> write(std::string_view piece) override {
    while (!piece.empty()) {
      const std::string_view part = piece.substr(0, kPieceBytes);
      piece.remove_prefix(part.size());
      written_ += part.size();
      auto sent = co_await write_part(part);
      if (!sent) co_return sent;
    }
    co_return Result<>{};
  }

  // A body that ended short of its announced length must not look whole.
  Async<> finish(std::optional<std::uint64_t> length) {
    if (framing_ == Framing::length && written_ != length) {
      co_return fail(ErrorCode::internal, "a streamed body ended before its length");
    }
    if (framing_ != Framing::chunked) co_return Result<>{};
    co_return co_await connection_.send("0\r\n\r\n", {});
  }

 private:
  Async<> write_part(std::string_view part) {
    if (framing_ != Framing::chunked) co_return co_await connection_.send(part, {});
    const std::string head = chunk_head(part.size());
    chunk_.assign(part).append("\r\n");
    co_return co_await connection_.send(head, chunk_);
  }

  Connection& connection_;
  Framing framing_;
  std::uint64_t written_ = 0;
  std::string chunk_;
};

Async<> Connection::write_stream(Response& response, Framing framing) {
  using namespace asio::experimental::awaitable_operators;
  StreamWriter writer(*this, framing);
  if (response.stream_life == StreamLife::open_ended) {
    if (draining_) co_return fail(ErrorCode::unavailable, "draining");
    phase_ = Phase::open_stream;
    auto body = run_body(*response.stream, writer);
    auto client_leaves = watch_client();
    auto outcome = co_await (std::move(body) || std::move(client_leaves));
    phase_ = Phase::answering;
    if (outcome.index() == 1) co_return fail(ErrorCode::cancelled, "the client is gone");
    const BodyEnd& end = std::get<0>(outcome);
    if (end.thrown) std::rethrow_exception(end.thrown);
    if (!end.result) co_return end.result;
  } else {
    auto ended = co_await response.stream->write_to(writer);
    if (!ended) co_return ended;
  }
  co_return co_await writer.finish(response.stream_length);
}

// Completes when the client has closed its side or the socket was closed; a client that only waits keeps it
// waiting.
asio::awaitable<void> Connection::watch_client() {
  while (input_.size() < kPipelinedBytes) {
    auto received = co_await receive_some();
    if (!received) co_return;
  }
}

Async<std::size_t> Connection::receive(Deadline deadline) {
  auto operation = receive_some();
  co_return co_await with_deadline(std::move(operation), deadline, "receive");
}

Async<std::size_t> Connection::receive_some() {
  const std::size_t before = input_.size();
  input_.resize(before + kReceiveBytes);
  auto into = asio::buffer(input_.data() + before, kReceiveBytes);
  boost::system::error_code error;
  const std::size_t count =
      co_await socket_.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
  input_.resize(before + count);
  if (error) co_return fail(ErrorCode::cancelled, "receive: " + error.message());
  co_return count;
}

Async<> Connection::send(std::string_view first, std::string_view second) {
  do {
    const std::string_view a = first.substr(0, kPieceBytes);
    const std::string_view b = second.substr(0, kPieceBytes - a.size());
    auto operation = send_piece(a, b);
    auto sent = co_await with_deadline(std::move(operation), Deadline::in(times_.write), "send");
    if (!sent) co_return sent;
    first.remove_prefix(a.size());
    second.remove_prefix(b.size());
  } while (!first.empty() || !second.empty());
  co_return Result<>{};
}

Async<> Connection::send_piece(std::string_view first, std::string_view second) {
  const std::array pieces = {asio::buffer(first), asio::buffer(second)};
  boost::system::error_code error;
  co_await asio::async_write(socket_, pieces, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return fail(ErrorCode::cancelled, "send: " + error.message());
  co_return Result<>{};
}

}  // namespace mayfly::http

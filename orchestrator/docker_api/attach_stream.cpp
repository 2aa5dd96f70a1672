#include "docker_api/attach_stream.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace mayfly::docker {

namespace {

constexpr std::size_t kBufferSize = 256U << 10U;

// Held by the operations too, so that a stream may be destroyed while they are pending.
struct Carrier {
  explicit Carrier(EngineSocket opened)
      : socket(std::move(opened)), buffer(std::make_unique_for_overwrite<std::byte[]>(kBufferSize)) {}

  std::span<const std::byte> unread() const { return {buffer.get() + begin, end - begin}; }

  EngineSocket socket;
  StdcopyDemux demux;
  // Filled only when empty, and from its begin: a quiet stream touches one page of it, and nothing is ever
  // moved.
  std::unique_ptr<std::byte[]> buffer;
  std::size_t begin = 0, end = 0;
  bool closed = false;
};

tl::unexpected<Error> failed(const Carrier& carrier, const boost::system::error_code& why) {
  if (carrier.closed) return fail(ErrorCode::cancelled, "the attach is closed");
  if (why == asio::error::operation_aborted)
    return fail(ErrorCode::cancelled, "the attach's operation was cancelled");
  return fail(ErrorCode::engine_unreachable, "the attach broke: " + why.message());
}

// Up to one read(2) into the empty buffer. False: the engine has ended the stream.
Async<bool> fill(std::shared_ptr<Carrier> carrier) {
  const auto space = asio::buffer(carrier->buffer.get(), kBufferSize);
  const auto [error, size] =
      co_await carrier->socket.async_read_some(space, asio::as_tuple(asio::use_awaitable));
  if (error == asio::error::eof && !carrier->closed) co_return false;
  if (error) co_return failed(*carrier, error);
  carrier->begin = 0;
  carrier->end = size;
  co_return true;
}

// From what has arrived already: as many frames of one stream as there is room for. Empty when there is none.
Result<AttachStream::Piece> take_buffered(Carrier& carrier, std::span<std::byte> into) {
  AttachStream::Piece piece;
  while (piece.size < into.size()) {
    const auto only = piece.size > 0 ? std::optional(piece.stream) : std::nullopt;
    const auto step = carrier.demux.next(carrier.unread(), into.size() - piece.size, only);
    if (!step && piece.size > 0) break;  // the next call fails in the same way
    if (!step) return fail_with(step);
    carrier.begin += step->consumed;
    if (step->payload.empty()) break;
    std::memcpy(into.data() + piece.size, step->payload.data(), step->payload.size());
    piece.stream = step->stream;
    piece.size += step->payload.size();
  }
  return piece;
}

Async<AttachStream::Piece> read_piece(std::shared_ptr<Carrier> carrier, std::span<std::byte> into) {
  if (into.empty()) throw std::invalid_argument("an attach's read needs room");
  for (;;) {
    if (carrier->closed) co_return fail(ErrorCode::cancelled, "the attach is closed");
    auto piece = take_buffered(*carrier, into);
    if (!piece || piece->size > 0) co_return piece;
    const auto more = co_await fill(carrier);
    // What has arrived stays in the buffer when nobody waits for this piece any longer.
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none)
      co_return fail(ErrorCode::cancelled, "the attach's read was cancelled");
    if (!more) co_return fail_with(more);
    if (!*more) {
      if (auto whole = carrier->demux.finish(); !whole) co_return fail_with(std::move(whole));
      co_return AttachStream::Piece{};
    }
  }
}

Async<> write_all(std::shared_ptr<Carrier> carrier, std::span<const std::byte> data) {
  if (carrier->closed) co_return fail(ErrorCode::cancelled, "the attach is closed");
  const auto bytes = asio::buffer(data.data(), data.size());
  const auto [error, sent] =
      co_await asio::async_write(carrier->socket, bytes, asio::as_tuple(asio::use_awaitable));
  if (error) co_return failed(*carrier, error);
  co_return Result<>();
}

class EngineAttachStream final : public AttachStream {
 public:
  explicit EngineAttachStream(std::shared_ptr<Carrier> carrier) : carrier_(std::move(carrier)) {}
  EngineAttachStream(const EngineAttachStream&) = delete;
  EngineAttachStream& operator=(const EngineAttachStream&) = delete;
  ~EngineAttachStream() override { close_now(); }

  Async<Piece> read(std::span<std::byte> into) override { return read_piece(carrier_, into); }
  Async<> write(std::span<const std::byte> data) override { return write_all(carrier_, data); }
  void close() override { close_now(); }

 private:
  void close_now() {
    if (std::exchange(carrier_->closed, true)) return;
    boost::system::error_code ignored;  // the peer may have gone first
    carrier_->socket.shutdown(EngineSocket::shutdown_both, ignored);
    carrier_->socket.close(ignored);
  }

  std::shared_ptr<Carrier> carrier_;
};

}  // namespace

std::unique_ptr<AttachStream> make_attach_stream(EngineSocket socket, std::vector<std::byte> head) {
  auto carrier = std::make_shared<Carrier>(std::move(socket));
  // One read of an answer is smaller than the buffer.
  carrier->end = std::min(head.size(), kBufferSize);
  std::copy_n(head.begin(), carrier->end, carrier->buffer.get());
  return std::make_unique<EngineAttachStream>(std::move(carrier));
}

}  // namespace mayfly::docker

// One connection: reads requests one after the other (HTTP/1.1, RFC 9112), hands them to the RequestHandler
// and writes the answers. Spawned by Server, one coroutine a connection; all on the I/O thread.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_types.hpp"
#include "http/problem.hpp"
#include "http/request_head.hpp"

namespace mayfly::http {

using StreamSocket = asio::generic::stream_protocol::socket;

// How patient a connection is. Tests shorten them.
struct ConnectionTimes {
  Millis head{std::chrono::seconds(10)};  // from the first byte of a head to its end
  Millis body{
      std::chrono::seconds(30)};  // for a body, and one second more for each `body_rate` bytes that came
  Millis idle{std::chrono::seconds(60)};   // between requests
  Millis write{std::chrono::seconds(30)};  // for one piece (at most 64 KiB) to reach the kernel
  Millis linger{std::chrono::seconds(2)};  // for the client to read a refusal before the connection is reset
  std::uint64_t body_rate = 16U << 10U;
};

// What to do with a request whose head has been read and whose body has not: up to how many bytes of body to
// read, or the answer that is sent at once; then the body is not read and the connection closes.
using HeadDecision = tl::expected<std::uint64_t, Response>;

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual HeadDecision decide(Request& request) = 0;
  // Throws for cancellation only. The request outlives the coroutine.
  virtual asio::awaitable<Response> respond(const Request& request) = 0;
  // The answer to a request that broke HTTP itself; the connection closes after it.
  virtual Response refuse(const Request& request, const Problem& problem) = 0;
  // After the last byte of the answer; `sent` is the error that cut it: cancelled when the client went away,
  // deadline_exceeded when it did not read, else what a streaming body failed with.
  virtual void answered(const Request& request, int status, const Result<>& sent, Millis took) = 0;
};

class Connection {
 public:
  Connection(StreamSocket socket, Transport transport, const ConnectionTimes& times, RequestHandler& handler);

  // Serves until the client, a fault, a deadline or drain ends it.
  asio::awaitable<void> serve();
  // Finishes what is being answered and then ends; at once when it waits for a request or is in an open-ended
  // stream.
  void drain();

 private:
  class StreamWriter;
  enum class Phase { idle, answering, open_stream };

  asio::awaitable<KeepAlive> serve_one();
  // The answer to a request whose reading failed is empty when nobody waits for one.
  using Refusal = std::optional<Response>;
  asio::awaitable<tl::expected<RequestHead, Refusal>> read_head(const Request& request);
  asio::awaitable<tl::expected<void, Refusal>> read_body(const RequestHead& head, Request& request);
  asio::awaitable<tl::expected<void, Refusal>> read_chunked(Request& request, std::uint64_t limit);
  asio::awaitable<tl::expected<void, Refusal>> read_counted(Request& request, std::uint64_t length);
  asio::awaitable<tl::expected<void, Refusal>> read_request(RequestHead& head, Request& request);
  tl::unexpected<Refusal> refused(const Request& request, const Problem& problem);
  tl::unexpected<Refusal> stopped(const Request& request, const Error& error);
  Deadline body_deadline(MonoTime began, std::size_t received) const;

  Async<> write_response(const Request& request, Response& response, KeepAlive keep);
  Async<> write_stream(Response& response, Framing framing);
  asio::awaitable<void> linger();
  KeepAlive keep_after(const Response& response, const RequestHead& head) const;
  Framing framing_of(const Response& response) const;

  Async<std::size_t> receive(Deadline deadline);
  Async<std::size_t> receive_some();
  // All of both texts, which the caller keeps; each piece of 64 KiB has its own deadline.
  Async<> send(std::string_view first, std::string_view second);
  Async<> send_piece(std::string_view first, std::string_view second);
  asio::awaitable<void> watch_client();

  StreamSocket socket_;
  Transport transport_;
  const ConnectionTimes& times_;
  RequestHandler& handler_;
  std::string input_;  // received and not yet read: at most one piece more than a head
  std::size_t served_ = 0;
  HttpVersion version_ = HttpVersion::http_1_1;  // of the request in hand
  Phase phase_ = Phase::idle;
  bool draining_ = false;
};

}  // namespace mayfly::http

#include "http/connection.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "http/chunked_decoder.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kLingerBytes = 1U << 20U;

Problem problem_of(ErrorCode code, std::string detail) {
  return problem_from(Error{.code = code, .message = std::move(detail)});
}

Problem body_too_large(std::uint64_t limit) {
  return problem_of(ErrorCode::payload_too_large,
                    "the body is larger than this route takes (" + std::to_string(limit) + " bytes)");
}

}  // namespace

Connection::Connection(StreamSocket socket, Transport transport, const ConnectionTimes& times,
                       RequestHandler& handler)
    : socket_(std::move(socket)), transport_(transport), times_(times), handler_(handler) {}

asio::awaitable<void> Connection::serve() {
  while (!draining_ && co_await serve_one() == KeepAlive::yes) ++served_;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::drain() {
  draining_ = true;
  if (phase_ == Phase::answering) return;
  boost::system::error_code ignored;
  socket_.close(ignored);  // a pending read ends with an error, and with it the stream that watches by it
}

asio::awaitable<KeepAlive> Connection::serve_one() {
  phase_ = Phase::idle;
  Request request;
  request.id = "req_" + make_uuid7_base32();
  request.transport = transport_;
  RequestHead head;
  auto read = co_await read_request(head, request);
  const MonoTime began = std::chrono::steady_clock::now();
  if (!read && !read.error()) co_return KeepAlive::no;
  Response response;
  if (read) {
    response = co_await handler_.respond(request);
  } else {
    response = std::move(*read.error());
  }
  const KeepAlive keep = read ? keep_after(response, head) : KeepAlive::no;
  const Result<> sent = co_await write_response(request, response, keep);
  if (!read) co_await linger();
  const auto took = std::chrono::steady_clock::now() - began;
  handler_.answered(request, response.status, sent, std::chrono::duration_cast<Millis>(took));
  co_return sent && !draining_ ? keep : KeepAlive::no;
}

KeepAlive Connection::keep_after(const Response& response, const RequestHead& head) const {
  return draining_ || framing_of(response) == Framing::until_close ? KeepAlive::no : head.keep_alive;
}

Framing Connection::framing_of(const Response& response) const {
  if (response.status == 204 || response.status == 304) return Framing::none;
  if (!response.stream || response.stream_length) return Framing::length;
  return version_ == HttpVersion::http_1_0 ? Framing::until_close : Framing::chunked;
}

asio::awaitable<tl::expected<void, Connection::Refusal>> Connection::read_request(RequestHead& head,
                                                                                  Request& request) {
  auto parsed = co_await read_head(request);
  if (!parsed) co_return tl::unexpected<Refusal>(std::move(parsed).error());
  head = std::move(*parsed);
  version_ = head.version;
  request.method = head.method;
  request.target = head.target;
  request.headers = head.headers;
  co_return co_await read_body(head, request);
}

asio::awaitable<tl::expected<RequestHead, Connection::Refusal>> Connection::read_head(
    const Request& request) {
  if (input_.empty()) {
    const Deadline first_byte = Deadline::in(served_ == 0 ? times_.head : times_.idle);
    auto received = co_await receive(first_byte);
    if (!received) co_return tl::unexpected<Refusal>(std::nullopt);
  }
  phase_ = Phase::answering;
  const Deadline deadline = Deadline::in(times_.head);
  HeadScanner scanner;
  for (;;) {
    switch (scanner.scan(input_)) {
      case HeadScanner::Outcome::complete: {
        auto head = parse_head(std::string_view(input_).substr(0, scanner.length()));
        input_.erase(0, scanner.length());
        if (!head) co_return refused(request, head.error());
        co_return std::move(*head);
      }
      case HeadScanner::Outcome::malformed:
        co_return refused(request, problem_of(ErrorCode::invalid_argument,
                                              "this is no HTTP/1.1 header, or one with a bare CR or LF"));
      case HeadScanner::Outcome::too_large:
        co_return refused(request,
                          problem_of(ErrorCode::header_too_large, "the header is longer than 16 KiB"));
      case HeadScanner::Outcome::need_more:
        break;
    }
    auto received = co_await receive(deadline);
    if (!received) co_return stopped(request, received.error());
  }
}

asio::awaitable<tl::expected<void, Connection::Refusal>> Connection::read_body(const RequestHead& head,
                                                                               Request& request) {
  auto limit = handler_.decide(request);
  if (!limit) co_return tl::unexpected<Refusal>(std::move(limit).error());
  if (head.content_length.value_or(0) > *limit) co_return refused(request, body_too_large(*limit));
  const std::string_view expectation = head.headers.get("Expect");
  if (!expectation.empty() && head.version == HttpVersion::http_1_1) {
    if (!equal_without_case(expectation, "100-continue")) {
      co_return refused(request,
                        make_problem(417, "expectation_failed", "only 'Expect: 100-continue' is known"));
    }
    if (head.has_body() && input_.empty()) {
      auto sent = co_await send("HTTP/1.1 100 Continue\r\n\r\n", {});
      if (!sent) co_return stopped(request, sent.error());
    }
  }
  if (head.is_chunked) co_return co_await read_chunked(request, *limit);
  co_return co_await read_counted(request, head.content_length.value_or(0));
}

asio::awaitable<tl::expected<void, Connection::Refusal>> Connection::read_counted(Request& request,
                                                                                  std::uint64_t length) {
  const MonoTime began = std::chrono::steady_clock::now();
  for (;;) {
    const std::size_t wanted = static_cast<std::size_t>(length) - request.body.size();
    const std::size_t taken = std::min(wanted, input_.size());
    request.body.append(input_, 0, taken);
    input_.erase(0, taken);
    if (request.body.size() == length) co_return tl::expected<void, Refusal>{};
    auto received = co_await receive(body_deadline(began, request.body.size()));
    if (!received) co_return stopped(request, received.error());
  }
}

asio::awaitable<tl::expected<void, Connection::Refusal>> Connection::read_chunked(Request& request,
                                                                                  std::uint64_t limit) {
  const MonoTime began = std::chrono::steady_clock::now();
  ChunkedDecoder decoder(limit);
  for (;;) {
    const auto step = decoder.feed(input_, request.body);
    input_.erase(0, step.used);
    switch (step.outcome) {
      case ChunkedDecoder::Outcome::complete:
        co_return tl::expected<void, Refusal>{};
      case ChunkedDecoder::Outcome::too_large:
        co_return refused(request, body_too_large(limit));
      case ChunkedDecoder::Outcome::malformed:
        co_return refused(request, problem_of(ErrorCode::invalid_argument, "the chunked body is malformed"));
      case ChunkedDecoder::Outcome::need_more:
        break;
    }
    auto received = co_await receive(body_deadline(began, request.body.size()));
    if (!received) co_return stopped(request, received.error());
  }
}

Deadline Connection::body_deadline(MonoTime began, std::size_t received) const {
  const std::uint64_t earned_ms = received * 1000 / times_.body_rate;
  return Deadline::at(began + times_.body + Millis(earned_ms));
}

tl::unexpected<Connection::Refusal> Connection::refused(const Request& request, const Problem& problem) {
  return tl::unexpected<Refusal>(handler_.refuse(request, problem));
}

// A slow client is told; one that is gone is not.
tl::unexpected<Connection::Refusal> Connection::stopped(const Request& request, const Error& error) {
  if (error.code != ErrorCode::deadline_exceeded) return tl::unexpected<Refusal>(std::nullopt);
  return refused(request, make_problem(408, "request_timeout", "the request did not arrive in time"));
}

Async<> Connection::write_response(const Request& request, Response& response, KeepAlive keep) {
  const Framing framing = framing_of(response);
  const auto now = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  response.headers.set("X-Request-Id", request.id);
  response.headers.set("Date", format_http_date(now));
  const std::string head =
      format_head(response, framing, response.stream_length.value_or(response.body.size()), keep);
  const bool with_body = framing != Framing::none && request.method != "HEAD";
  auto sent = co_await send(head, with_body ? std::string_view(response.body) : std::string_view());
  if (!sent || !response.stream || !with_body) co_return sent;
  co_return co_await write_stream(response, framing);
}

// Closing with unread input makes the kernel send a reset, which can overtake the answer at the client: so
// the end is announced first, and what the client still sends is read for a while.
asio::awaitable<void> Connection::linger() {
  boost::system::error_code ignored;
  socket_.shutdown(StreamSocket::shutdown_send, ignored);
  const Deadline deadline = Deadline::in(times_.linger);
  for (std::size_t discarded = input_.size(); discarded < kLingerBytes;) {
    input_.clear();
    auto received = co_await receive(deadline);
    if (!received) break;
    discarded += *received;
  }
}

}  // namespace mayfly::http

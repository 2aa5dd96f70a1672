#include "docker_api/http_answer_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace mayfly::docker {

namespace http = boost::beast::http;

namespace {

constexpr std::uint32_t kMostHead = 32U << 10U;

tl::unexpected<Error> unreadable(const boost::system::error_code& why) {
  return fail(ErrorCode::protocol, "the engine's answer is no HTTP that can be read: " + why.message());
}

}  // namespace

struct HttpAnswerParser::State {
  http::response_parser<http::string_body> parser;
  boost::beast::flat_buffer unread;
};

HttpAnswerParser::HttpAnswerParser(std::size_t most_body) : state_(std::make_unique<State>()) {
  state_->parser.body_limit(most_body);
  state_->parser.header_limit(kMostHead);
  state_->parser.eager(true);
}

HttpAnswerParser::~HttpAnswerParser() = default;

Result<void> HttpAnswerParser::feed(std::span<const std::byte> bytes) {
  auto& [parser, unread] = *state_;
  const auto space = unread.prepare(bytes.size());
  unread.commit(boost::asio::buffer_copy(space, boost::asio::buffer(bytes.data(), bytes.size())));
  while (!parser.is_done() && unread.size() > 0) {
    boost::system::error_code error;
    unread.consume(parser.put(unread.cdata(), error));
    if (error == http::error::need_more) return {};
    if (error) return unreadable(error);
  }
  return {};
}

Result<void> HttpAnswerParser::finish() {
  auto& parser = state_->parser;
  boost::system::error_code error;
  if (!parser.is_done() && parser.got_some()) parser.put_eof(error);
  if (parser.is_done() && !error) return {};
  return fail(ErrorCode::engine_unreachable, parser.got_some()
                                                 ? "the engine closed the connection inside its answer"
                                                 : "the engine closed the connection before it answered");
}

bool HttpAnswerParser::is_done() const {
  return state_->parser.is_done();
}

bool HttpAnswerParser::keeps_alive() const {
  return state_->parser.keep_alive() && state_->unread.size() == 0;
}

HttpAnswer HttpAnswerParser::take_answer() {
  auto message = state_->parser.release();
  return {message.result_int(), std::move(message.body())};
}

std::span<const std::byte> HttpAnswerParser::rest() const {
  const auto bytes = state_->unread.cdata();
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace mayfly::docker

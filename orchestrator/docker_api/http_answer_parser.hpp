// Reads one HTTP/1.1 answer from bytes as they come, without I/O: the only file that knows Boost.Beast. One
// owner.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"

namespace mayfly::docker {

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

class HttpAnswerParser {
 public:
  explicit HttpAnswerParser(std::size_t most_body);
  ~HttpAnswerParser();
  HttpAnswerParser(const HttpAnswerParser&) = delete;
  HttpAnswerParser& operator=(const HttpAnswerParser&) = delete;

  // protocol for what is no HTTP answer and for a body over its bound.
  Result<void> feed(std::span<const std::byte> bytes);
  // The peer has closed: engine_unreachable unless the answer is whole.
  Result<void> finish();

  bool is_done() const;
  // Whether the connection may carry another exchange.
  bool keeps_alive() const;
  HttpAnswer take_answer();
  // The bytes that came after the answer: the begin of an upgraded stream.
  std::span<const std::byte> rest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::docker

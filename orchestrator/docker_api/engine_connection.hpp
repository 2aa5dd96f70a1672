// One HTTP/1.1 connection to the engine: exchanges one after the other, or one upgrade that ends its life as
// HTTP. A cancelled operation leaves it unusable: destroy it. I/O thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "docker_api/engine_socket.hpp"
#include "docker_api/http_answer_parser.hpp"

namespace mayfly::docker {

struct HttpRequest {
  std::string_view method;  // a literal
  std::string target;
  std::string body;
  std::string_view content_type = "application/json";  // a literal
};

class EngineConnection {
 public:
  explicit EngineConnection(EngineSocket socket) : socket_(std::move(socket)) {}

  // engine_unreachable when the connection breaks, protocol for an unreadable answer or one over `most_body`.
  // `request` must outlive the operation.
  Async<HttpAnswer> exchange(const HttpRequest& request, std::size_t most_body);

  struct Upgraded {
    HttpAnswer answer;            // 101, or why not
    std::vector<std::byte> head;  // what came right behind the answer
  };
  // As exchange, asking for a raw stream (Docker API, "Attach to a container", hijacking). After a 101 the
  // stream is take_socket()'s.
  Async<Upgraded> upgrade(const HttpRequest& request);
  EngineSocket take_socket() { return std::move(socket_); }

  // Whether another exchange may follow: the last answer allowed it, and the engine has not closed since.
  bool is_reusable() { return keeps_alive_ && is_idle(socket_); }
  // Whether the last failed exchange got no byte of an answer.
  bool got_nothing() const { return got_nothing_; }

 private:
  enum class Wish { answer, upgrade };
  Async<> send(const HttpRequest& request, Wish wish);
  Async<> receive(HttpAnswerParser& parser);
  Async<> converse(const HttpRequest& request, Wish wish, HttpAnswerParser& parser);

  EngineSocket socket_;
  bool keeps_alive_ = true;
  bool got_nothing_ = true;
};

}  // namespace mayfly::docker

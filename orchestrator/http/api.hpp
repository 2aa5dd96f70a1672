// The API as the server sees it: gates, then the route's handler, then problem details for whatever went
// wrong. Made by main; all calls from the I/O thread.
#pragma once

#include <memory>
#include <string>

#include "async/blocking_pool.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "http/connection.hpp"
#include "http/router.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

struct ApiHandlers;  // routes.hpp

struct ApiOptions {
  std::string bearer_token;                    // what TCP clients must show; empty: none is right
  Millis heartbeat{std::chrono::seconds(15)};  // on streams that have nothing to say
};

class Api final : public RequestHandler {
 public:
  Api(TaskService& service, BlockingPool& pool, Metrics& metrics, Logger& log, ApiOptions options);
  ~Api() override;

  HeadDecision decide(Request& request) override;
  asio::awaitable<Response> respond(const Request& request) override;
  Response refuse(const Request& request, const Problem& problem) override;
  void answered(const Request& request, int status, const Result<>& sent, Millis took) override;

  const Router& router() const { return router_; }

 private:
  Response answer_error(const Request& request, const Error& error);

  Metrics& metrics_;
  Logger& log_;
  ApiOptions options_;
  std::unique_ptr<ApiHandlers> handlers_;
  Router router_;
};

}  // namespace mayfly::http

#include "http/api.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "http/middleware.hpp"
#include "http/problem.hpp"
#include "http/routes.hpp"

namespace mayfly::http {
namespace {

// Methods come from outside: only those that the table knows become labels.
std::string method_label(const Request& request) {
  return request.route ? request.method : "other";
}
std::string route_label(const Request& request) {
  return request.route ? request.route->pattern : "none";
}

// A client that went away or did not read; or our own end, of which the log speaks elsewhere.
bool is_clients_doing(const Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::deadline_exceeded ||
         error.code == ErrorCode::unavailable;
}

}  // namespace

Api::Api(TaskService& service, BlockingPool& pool, Metrics& metrics, Logger& log, ApiOptions options)
    : metrics_(metrics),
      log_(log),
      options_(std::move(options)),
      handlers_(std::make_unique<ApiHandlers>(service, pool, metrics, options_.heartbeat)),
      router_(make_routes(*handlers_)) {}

Api::~Api() = default;

HeadDecision Api::decide(Request& request) {
  const GateContext context{.router = router_, .bearer_token = options_.bearer_token};
  if (auto refusal = pass_gates(request, context)) return tl::unexpected<Response>(std::move(*refusal));
  return body_limit_of(*request.route);
}

asio::awaitable<Response> Api::respond(const Request& request) {
  Error error;
  try {
    auto response = co_await request.route->handler(request);
    if (response) co_return std::move(*response);
    error = std::move(response).error();
  } catch (const boost::system::system_error& thrown) {
    if (thrown.code() == asio::error::operation_aborted) throw;
    error = Error{.code = ErrorCode::internal, .message = thrown.what()};
  } catch (const std::exception& thrown) {
    error = Error{.code = ErrorCode::internal, .message = thrown.what()};
  }
  co_return answer_error(request, error);
}

Response Api::answer_error(const Request& request, const Error& error) {
  if (http_status(error.code) >= 500) {
    log_.error("http", "a request failed",
               {{"request_id", request.id},
                {"route", route_label(request)},
                {"code", std::string(name_of(error.code))},
                {"what", error.message}});
  }
  return problem_response(problem_from(error), request.id);
}

Response Api::refuse(const Request& request, const Problem& problem) {
  return problem_response(problem, request.id);
}

void Api::answered(const Request& request, int status, const Result<>& sent, Millis took) {
  const std::string route = route_label(request);
  const MetricLabels labels = {
      {"method", method_label(request)}, {"route", route}, {"status", std::to_string(status)}};
  metrics_.add("mayfly_http_requests_total", labels);
  const MetricLabels route_only = {{"route", route}};
  metrics_.observe("mayfly_http_request_seconds", static_cast<double>(took.count()) / 1000, route_only);
  const LogLevel level = sent || is_clients_doing(sent.error()) ? LogLevel::debug : LogLevel::error;
  log_.write(level, "http", sent ? "answered" : "an answer was cut",
             {{"request_id", request.id},
              {"method", request.method},
              {"route", route},
              {"status", std::to_string(status)},
              {"ms", std::to_string(took.count())},
              {"why", sent ? "" : sent.error().message}});
}

}  // namespace mayfly::http

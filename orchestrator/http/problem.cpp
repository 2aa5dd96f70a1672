#include "http/problem.hpp"

#include "base/json.hpp"

namespace mayfly::http {
namespace {

std::string_view title_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "The request is not valid";
    case ErrorCode::unprocessable:
      return "The request asks for what cannot be";
    case ErrorCode::unauthenticated:
      return "Credentials are missing or wrong";
    case ErrorCode::forbidden:
      return "Not allowed";
    case ErrorCode::not_found:
      return "Not found";
    case ErrorCode::method_not_allowed:
      return "The method is not allowed here";
    case ErrorCode::conflict:
      return "In conflict with the present state";
    case ErrorCode::gone:
      return "No longer kept";
    case ErrorCode::payload_too_large:
      return "The body is too large";
    case ErrorCode::unsupported_media:
      return "The media type is not supported";
    case ErrorCode::range_not_satisfiable:
      return "The range lies outside of the content";
    case ErrorCode::misdirected:
      return "This server does not answer for that host";
    case ErrorCode::header_too_large:
      return "The header is too large";
    case ErrorCode::rate_limited:
      return "Too many requests or tasks";
    case ErrorCode::policy_denied:
      return "The policy does not allow it";
    case ErrorCode::idempotency_mismatch:
      return "The idempotency key was used with another body";
    case ErrorCode::unavailable:
      return "Not available now";
    case ErrorCode::disk_full:
      return "The server's disk is full";
    case ErrorCode::engine_unreachable:
      return "The container engine does not answer";
    case ErrorCode::engine_refused:
      return "The container engine refused";
    case ErrorCode::deadline_exceeded:
      return "It took too long";
    case ErrorCode::cancelled:
      return "Cancelled";
    case ErrorCode::protocol:
      return "A peer broke a protocol";
    case ErrorCode::io:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return "The server failed";
  }
  return "The server failed";
}

std::string_view title_of(int status) {
  switch (status) {
    case 408:
      return "The request came too slowly";
    case 417:
      return "The expectation cannot be met";
    case 505:
      return "The version of HTTP is not supported";
    default:
      return reason_phrase(status);
  }
}

// Seconds after which the same request has a chance.
int retry_after(const Problem& problem) {
  if (problem.code == name_of(ErrorCode::disk_full)) return 30;
  return problem.status == 429 || problem.status == 503 ? 5 : 0;
}

Json to_json(const FieldFault& fault) {
  return {{"pointer", fault.pointer}, {"code", fault.code}, {"detail", fault.detail}};
}

}  // namespace

Problem problem_from(const Error& error) {
  Problem problem;
  problem.status = http_status(error.code);
  problem.code = name_of(error.code);
  problem.title = title_of(error.code);
  problem.retryable = is_retryable(error.code);
  if (problem.status < 500) {
    problem.detail = error.message;
    problem.errors = error.fields;
  } else {
    problem.detail = "the server's log has more under the request id";
  }
  return problem;
}

Problem make_problem(int status, std::string code, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.code = std::move(code);
  problem.title = title_of(status);
  problem.detail = std::move(detail);
  problem.retryable = status == 408;
  return problem;
}

Response problem_response(const Problem& problem, std::string_view request_id) {
  Json json = {{"type", "urn:mayfly:problem:" + problem.code},
               {"title", problem.title},
               {"status", problem.status},
               {"detail", problem.detail},
               {"code", problem.code},
               {"retryable", problem.retryable},
               {"request_id", request_id}};
  for (const FieldFault& fault : problem.errors) json["errors"].push_back(to_json(fault));
  Response response = json_response(problem.status, dump_json(json));
  response.headers.set("Content-Type", "application/problem+json");
  if (const int seconds = retry_after(problem)) response.headers.add("Retry-After", std::to_string(seconds));
  return response;
}

}  // namespace mayfly::http

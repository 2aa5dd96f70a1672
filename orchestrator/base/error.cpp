#include "base/error.hpp"

#include <cerrno>
#include <system_error>

namespace mayfly {
namespace {

struct Facts {
  std::string_view name;
  int http;
  bool retryable;
};

Facts facts_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return {"invalid_argument", 400, false};
    case ErrorCode::unprocessable:
      return {"unprocessable", 422, false};
    case ErrorCode::unauthenticated:
      return {"unauthenticated", 401, false};
    case ErrorCode::forbidden:
      return {"forbidden", 403, false};
    case ErrorCode::not_found:
      return {"not_found", 404, false};
    case ErrorCode::method_not_allowed:
      return {"method_not_allowed", 405, false};
    case ErrorCode::conflict:
      return {"conflict", 409, true};
    case ErrorCode::gone:
      return {"gone", 410, false};
    case ErrorCode::payload_too_large:
      return {"payload_too_large", 413, false};
    case ErrorCode::unsupported_media:
      return {"unsupported_media", 415, false};
    case ErrorCode::range_not_satisfiable:
      return {"range_not_satisfiable", 416, false};
    case ErrorCode::misdirected:
      return {"misdirected", 421, false};
    case ErrorCode::header_too_large:
      return {"header_too_large", 431, false};
    case ErrorCode::rate_limited:
      return {"rate_limited", 429, true};
    case ErrorCode::policy_denied:
      return {"policy_denied", 422, false};
    case ErrorCode::idempotency_mismatch:
      return {"idempotency_mismatch", 422, false};
    case ErrorCode::unavailable:
      return {"unavailable", 503, true};
    case ErrorCode::disk_full:
      return {"disk_full", 503, true};
    case ErrorCode::engine_unreachable:
      return {"engine_unreachable", 503, true};
    case ErrorCode::engine_refused:
      return {"engine_refused", 502, false};
    case ErrorCode::deadline_exceeded:
      return {"deadline_exceeded", 504, true};
    case ErrorCode::cancelled:
      return {"cancelled", 499, false};
    case ErrorCode::protocol:
      return {"protocol", 502, false};
    case ErrorCode::io:
      return {"io", 500, false};
    case ErrorCode::corrupt:
      return {"corrupt", 500, false};
    case ErrorCode::internal:
      return {"internal", 500, false};
  }
  return {"internal", 500, false};
}

}  // namespace

tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message)});
}

tl::unexpected<Error> fail(ErrorCode code, std::string message, std::vector<FieldFault> fields) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = std::move(message), .fields = std::move(fields)});
}

tl::unexpected<Error> fail_errno(std::string_view what, int errno_value) {
  const bool full = errno_value == ENOSPC || errno_value == EDQUOT;
  return fail(full ? ErrorCode::disk_full : ErrorCode::io,
              std::string(what) + ": " + std::generic_category().message(errno_value));
}

std::string_view name_of(ErrorCode code) {
  return facts_of(code).name;
}
int http_status(ErrorCode code) {
  return facts_of(code).http;
}
bool is_retryable(ErrorCode code) {
  return facts_of(code).retryable;
}

}  // namespace mayfly

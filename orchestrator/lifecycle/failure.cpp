#include "lifecycle/failure.hpp"

namespace mayfly {
namespace {

Reason deadline_reason(Phase phase) {
  switch (phase) {
    case Phase::prepare:
      return Reason::prepare_timeout;
    case Phase::create:
    case Phase::start:
      return Reason::start_timeout;
    case Phase::run:
    case Phase::collect:
      return Reason::runner_lost;
  }
  return Reason::internal;
}

Reason reason_of(ErrorCode code, Phase phase) {
  switch (code) {
    case ErrorCode::deadline_exceeded:
      return deadline_reason(phase);
    case ErrorCode::engine_unreachable:
      return Reason::engine_unreachable;
    case ErrorCode::not_found:
    case ErrorCode::invalid_argument:
    case ErrorCode::unprocessable:
      if (phase == Phase::prepare) return Reason::image_unavailable;
      if (phase == Phase::collect && code != ErrorCode::not_found) return Reason::runner_protocol_error;
      return phase == Phase::create ? Reason::engine_refused : Reason::container_vanished;
    case ErrorCode::forbidden:
      return Reason::runtime_untrusted;
    case ErrorCode::engine_refused:
    case ErrorCode::conflict:
      return Reason::engine_refused;
    case ErrorCode::protocol:
      return Reason::runner_protocol_error;
    case ErrorCode::disk_full:
      return Reason::no_space;
    case ErrorCode::unauthenticated:
    case ErrorCode::method_not_allowed:
    case ErrorCode::gone:
    case ErrorCode::payload_too_large:
    case ErrorCode::unsupported_media:
    case ErrorCode::range_not_satisfiable:
    case ErrorCode::misdirected:
    case ErrorCode::header_too_large:
    case ErrorCode::rate_limited:
    case ErrorCode::policy_denied:
    case ErrorCode::idempotency_mismatch:
    case ErrorCode::unavailable:
    case ErrorCode::cancelled:
    case ErrorCode::io:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return Reason::internal;
  }
  return Reason::internal;
}

}  // namespace

Failure failure_of(const Error& error, Phase phase) {
  const bool before_bind = phase == Phase::prepare || phase == Phase::create || phase == Phase::start;
  return {.reason = reason_of(error.code, phase),
          .message = error.message,
          .may_retry = before_bind && error.code == ErrorCode::engine_unreachable};
}

Failure stopped(Reason reason) {
  return {.reason = reason, .message = {}, .may_retry = false};
}

}  // namespace mayfly

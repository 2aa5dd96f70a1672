// Error and Result: what every operation that input or the outside world can fail returns.
// Exceptions mean a bug or exhausted resources. Values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace mayfly {

// One enum for the whole program. `error.cpp` maps it, in one switch without default, to HTTP status, exit
// code and the stable name that stands in problem details and in metric labels.
enum class ErrorCode {
  invalid_argument,    // input that can never be right (400)
  unprocessable,       // well-formed input that asks for what cannot be (422)
  unauthenticated,     // no or wrong credentials (401)
  forbidden,           // known, and not allowed (403)
  not_found,           // (404)
  method_not_allowed,  // (405)
  conflict,            // the state of the thing forbids it, or a request with the same key is in flight (409)
  gone,                // it was there; retention removed it (410)
  payload_too_large,   // (413)
  unsupported_media,   // (415)
  range_not_satisfiable,  // (416)
  misdirected,            // Host header of somebody else (421)
  header_too_large,       // (431)
  rate_limited,           // (429)
  policy_denied,          // over a ceiling, or not allowed by policy (422)
  idempotency_mismatch,   // same key, other body (422)
  unavailable,            // we cannot now; ask again later (503)
  disk_full,              // our own disk (503)
  engine_unreachable,     // no answer from the container engine (503)
  engine_refused,         // the engine answered, and said no (502)
  deadline_exceeded,      // (504)
  cancelled,              // given up because somebody asked (499)
  protocol,               // the peer broke a protocol (502)
  io,                     // a system call failed (500)
  corrupt,                // stored data is not what we wrote (500)
  internal,               // a bug (500)
};

// One field of the input that is wrong. `pointer` is an RFC 6901 JSON pointer ("/limits/memory"); for a YAML
// file also "file:line:column". `detail` names the value and the remedy.
struct FieldFault {
  std::string pointer;
  std::string code;  // stable: unknown_field, required, wrong_type, out_of_range, bad_format, over_ceiling,
                     // forbidden_…
  std::string detail;
  friend bool operator==(const FieldFault&, const FieldFault&) = default;
};

// `message` says what was tried, on which id, what came back, and what the reader can do. Never a secret.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::vector<FieldFault> fields{};
};

template <class T = void>
using Result = tl::expected<T, Error>;

[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, std::string message);
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, std::string message, std::vector<FieldFault> fields);
// For a failed system call: "<what>: <strerror>", with ENOSPC and EDQUOT as disk_full and all else as io.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view what, int errno_value);
// Passes an error of one Result on as an error of another.
template <class T>
[[nodiscard]] tl::unexpected<Error> fail_with(tl::expected<T, Error>&& failed) {
  return tl::unexpected<Error>(std::move(failed).error());
}
template <class T>
[[nodiscard]] tl::unexpected<Error> fail_with(const tl::expected<T, Error>& failed) {
  return tl::unexpected<Error>(failed.error());
}

// Stable lower-case name ("policy_denied").
std::string_view name_of(ErrorCode code);
// RFC 9110 status code.
int http_status(ErrorCode code);
// Whether the same request may succeed later without being changed.
bool is_retryable(ErrorCode code);

}  // namespace mayfly

// Reads the parameters of a request as typed values; what is wrong comes back as invalid_argument that names
// it. Shared by the handlers. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_types.hpp"

namespace mayfly::http {

// The {id} of the path. not_found for what can be no id: it names nothing.
Result<TaskId> task_id_of(const Request& request);

// "?name", "?name=true", "?name=false"; absent is false.
Result<bool> flag_of(const Request& request, std::string_view name);
// A plain decimal number from `least` to `most`; absent is `otherwise`.
Result<std::uint64_t> number_of(const Request& request, std::string_view name, std::uint64_t least,
                                std::uint64_t most, std::uint64_t otherwise);
// An RFC 3339 time.
Result<std::optional<WallTime>> time_of(const Request& request, std::string_view name);

// The fault of one query parameter.
tl::unexpected<Error> bad_parameter(std::string_view name, std::string detail);

// Idempotency-Key, a quoted structured-field string or bare, of 1 to 255 visible ASCII characters (spaces in
// quotes).
Result<std::optional<std::string>> idempotency_key_of(const Request& request);

// Whether an If-None-Match value holds this entity tag (weak comparison, RFC 9110 section 13.1.2).
bool etag_matches(std::string_view if_none_match, std::string_view etag);

}  // namespace mayfly::http

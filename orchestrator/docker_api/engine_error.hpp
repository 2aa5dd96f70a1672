// From what the engine answered to our errors: the only place of Docker's side that looks at status codes it
// did not hope for. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly::docker {

// The bound of an answer's body where the call says none.
constexpr std::size_t kMostAnswer = 16U << 20U;

// The engine's own words, cut to 1 KiB and harmless on a terminal.
std::string shown_text(std::string_view engine_text);

// 400 invalid_argument, 404 not_found, 409 conflict, anything else engine_refused. The engine's reason is the
// "message" of `body`.
[[nodiscard]] tl::unexpected<Error> fail_answer(unsigned status, std::string_view body);

}  // namespace mayfly::docker

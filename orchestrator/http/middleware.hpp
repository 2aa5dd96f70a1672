// What every request passes before its handler: decisions on the head alone, in a fixed order. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/router.hpp"

namespace mayfly::http {

// Bodies of specs: what parse_json reads at most.
inline constexpr std::uint64_t kSpecBodyBytes = 4U << 20U;
// For clients that always send "{}".
inline constexpr std::uint64_t kEmptyBodyBytes = 64;

struct GateContext {
  const Router& router;
  const std::string& bearer_token;  // for TCP
};

// Runs the gates of middleware.cpp's list. Nothing: the request may go on, and is routed and (unless its
// route is for everyone) authenticated. A response: the refusal, or the answer to OPTIONS.
std::optional<Response> pass_gates(Request& request, const GateContext& context);

// How many bytes of body a routed request may bring.
std::uint64_t body_limit_of(const Route& route);

// The one place that decides who is asking. On the Unix socket the file's mode 0600 is the credential; on TCP
// it is the bearer token (RFC 6750), compared in constant time.
std::optional<Principal> authenticate(const Request& request, const std::string& bearer_token);

}  // namespace mayfly::http

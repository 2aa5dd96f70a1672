// Which version of the Engine API both sides know. A pure decision; any thread.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "docker_api/engine_types.hpp"

namespace mayfly::docker {

struct ApiVersion {
  unsigned major = 0, minor = 0;
  // clang-tidy 14 takes the 0 that the defaulted operator compares with for a pointer.
  friend auto operator<=>(const ApiVersion&, const ApiVersion&) = default;  // NOLINT(modernize-use-nullptr)
};

// 1.41 is Docker 20.10; 1.52 is Docker 29, which refuses all below 1.44.
constexpr ApiVersion kLowestApi{1, 41};
constexpr ApiVersion kHighestApi{1, 52};

// "1.41"; invalid_argument for anything else.
Result<ApiVersion> parse_api_version(std::string_view text);
std::string format_api_version(ApiVersion version);

// The highest version in both ranges. engine_refused, with both ranges, when there is none or the engine
// gives none. An engine that gives no minimum is taken to know every version up to its own.
Result<std::string> negotiate_version(const VersionInfo& engine);

}  // namespace mayfly::docker

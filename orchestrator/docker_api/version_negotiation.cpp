#include "docker_api/version_negotiation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/utf8.hpp"

namespace mayfly::docker {

namespace {

constexpr std::size_t kMostShown = 32;

std::string shown(const std::string& text) {
  return text.empty() ? "none" : escape_for_terminal(text.substr(0, kMostShown));
}

tl::unexpected<Error> refuse(const VersionInfo& engine) {
  return fail(
      ErrorCode::engine_refused,
      fmt::format("the engine speaks API versions {} to {}, Mayfly {} to {}: use an engine between Docker "
                  "20.10 and 29",
                  shown(engine.min_api_version), shown(engine.api_version), format_api_version(kLowestApi),
                  format_api_version(kHighestApi)));
}

}  // namespace

Result<ApiVersion> parse_api_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto major = parse_decimal(text.substr(0, dot));
  const auto minor = parse_decimal(dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1));
  if (!major || !minor || *major > 999 || *minor > 999)
    return fail(ErrorCode::invalid_argument, "an API version is two numbers with a dot between, like 1.41");
  return ApiVersion{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

std::string format_api_version(ApiVersion version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

Result<std::string> negotiate_version(const VersionInfo& engine) {
  const auto most = parse_api_version(engine.api_version);
  const auto least = engine.min_api_version.empty() ? Result<ApiVersion>(ApiVersion{})
                                                    : parse_api_version(engine.min_api_version);
  if (!most || !least) return refuse(engine);
  const ApiVersion agreed = std::min(*most, kHighestApi);
  if (agreed < std::max(*least, kLowestApi)) return refuse(engine);
  return format_api_version(agreed);
}

}  // namespace mayfly::docker

#include "docker_api/version_negotiation.hpp"

#include <catch2/catch.hpp>

namespace mayfly::docker {
namespace {

Result<std::string> agreed(std::string least, std::string most) {
  VersionInfo engine;
  engine.min_api_version = std::move(least);
  engine.api_version = std::move(most);
  return negotiate_version(engine);
}

TEST_CASE("F41 the highest version that both sides know is agreed on") {
  CHECK(agreed("1.12", "1.41").value() == "1.41");
  CHECK(agreed("1.24", "1.47").value() == "1.47");
  CHECK(agreed("1.44", "1.52").value() == "1.52");
  CHECK(agreed("1.44", "1.60").value() == "1.52");
  CHECK(agreed("1.52", "2.0").value() == "1.52");
  CHECK(agreed("", "1.43").value() == "1.43");
}

TEST_CASE("F41 no common version is refused with both ranges") {
  const auto refused = agreed("1.12", "1.24");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::engine_refused);
  for (const char* part : {"1.12", "1.24", "1.41", "1.52"})
    CHECK_THAT(refused.error().message, Catch::Contains(part));
  CHECK_FALSE(agreed("1.53", "1.60"));
}

TEST_CASE("F41 an engine without a version or with one that is none is refused") {
  for (const char* text :
       {"", "1", "1.", ".41", "1.41.1", "v1.41", "1.41 ", "-1.41", "1.99999", "latest", "\x1b[2J"}) {
    const auto refused = agreed("1.12", text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::engine_refused);
    CHECK_THAT(refused.error().message, !Catch::Contains("\x1b"));
    if (*text != '\0') CHECK_FALSE(agreed(text, "1.41"));
  }
}

}  // namespace
}  // namespace mayfly::docker

#include "base/clock.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace mayfly {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

WallTime wall(std::int64_t millis) {
  return WallTime(Millis(millis));
}

TEST_CASE("format_time writes RFC 3339 in UTC with milliseconds") {
  CHECK(format_time(wall(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(format_time(wall(1'700'000'000'123)) == "2023-11-14T22:13:20.123Z");
  CHECK(format_time(wall(951'782'400'000)) == "2000-02-29T00:00:00.000Z");
  CHECK(format_time(wall(253'402'300'799'999)) == "9999-12-31T23:59:59.999Z");
  CHECK(format_time(wall(-1)) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("parse_time reads fractions and offsets as RFC 3339 allows them") {
  CHECK(parse_time("2023-11-14T22:13:20.123Z") == wall(1'700'000'000'123));
  CHECK(parse_time("2023-11-14T22:13:20Z") == wall(1'700'000'000'000));
  CHECK(parse_time("2023-11-14T22:13:20.5Z") == wall(1'700'000'000'500));
  CHECK(parse_time("2023-11-14T22:13:20.123456789Z") == wall(1'700'000'000'123));
  CHECK(parse_time("2023-11-15T00:13:20.123+02:00") == wall(1'700'000'000'123));
  CHECK(parse_time("2023-11-14T16:43:20-05:30") == wall(1'700'000'000'000));
  CHECK(parse_time("2000-02-29T00:00:00Z") == wall(951'782'400'000));
}

TEST_CASE("parse_time refuses what is no time of RFC 3339") {
  const auto* const refused =
      GENERATE("", "now", "2023", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z",
               "2023-11-14t22:13:20z", "2023-13-01T00:00:00Z", "2023-00-01T00:00:00Z", "2023-02-29T00:00:00Z",
               "2023-04-31T00:00:00Z", "2023-11-14T24:00:00Z", "2023-11-14T22:60:00Z", "2023-11-14T22:13:60Z",
               "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20.1234567890Z", "2023-11-14T22:13:20+2:00",
               "2023-11-14T22:13:20+0200", "2023-11-14T22:13:20+24:00", "2023-11-14T22:13:20Zx",
               "2023-11-14T22:13:20.12", "-023-11-14T22:13:20Z", "20231114T221320Z", "1700000000");
  CAPTURE(refused);
  const auto result = parse_time(refused);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(result.error().message, Contains("2026-11-30T18:40:06.123Z"));
}

TEST_CASE("parse_time reads back what format_time writes") {
  for (std::int64_t millis = 0; millis < 250'000'000'000'000; millis = millis * 2 + 86'399'999) {
    REQUIRE(parse_time(format_time(wall(millis))) == wall(millis));
  }
}

TEST_CASE("parse_duration reads single units and falling sums") {
  const std::vector<std::pair<std::string, Millis>> cases = {
      {"0s", 0ms},
      {"500ms", 500ms},
      {"30s", 30s},
      {"10m", 10min},
      {"2h", 2h},
      {"1d", 24h},
      {"1h30m", 90min},
      {"1d1ms", 24h + 1ms},
      {"1d2h3m4s5ms", 26h + 3min + 4s + 5ms},
      {"90m", 90min},
      {"36500d", 24h * 36500},
      {"1m500ms", 60s + 500ms},
  };
  for (const auto& [text, duration] : cases) {
    CAPTURE(text);
    CHECK(parse_duration(text) == duration);
  }
}

TEST_CASE("F44 parse_duration refuses bare numbers and look-alikes and names the accepted form") {
  const auto* const refused =
      GENERATE("", "30", "0", "s", "1.5h", "1,5h", "-1s", "+1s", "1 s", "1s ", "01s", "1sec", "1min", "1S",
               "1H", "30m1h", "1s1s", "1ms1s", "1h30", "1e3s", "0x10s", "inf", "nan", "1w", "1y", "1us",
               "36501d", "36500d1ms", "99999999999999999999s", "9223372036854775807h", "PT30S", "00:30:00");
  CAPTURE(refused);
  const auto result = parse_duration(refused);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(result.error().message, Contains("\"30s\"") && Contains("1h30m"));
}

TEST_CASE("format_duration gives the shortest exact form that parse_duration reads back") {
  CHECK(format_duration(0ms) == "0s");
  CHECK(format_duration(1ms) == "1ms");
  CHECK(format_duration(1000ms) == "1s");
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(10min) == "10m");
  CHECK(format_duration(24h) == "1d");
  CHECK(format_duration(24h + 1s) == "1d1s");
  CHECK(format_duration(-30s) == "-30s");
  for (std::int64_t millis = 1; millis < 3'000'000'000'000; millis = millis * 3 + 1000 * (millis % 5)) {
    REQUIRE(parse_duration(format_duration(Millis(millis))) == Millis(millis));
  }
}

TEST_CASE("a manual clock stands still until told otherwise") {
  ManualClock clock;
  const auto wall_before = clock.wall();
  const auto mono_before = clock.mono();
  CHECK(clock.wall() == wall_before);
  clock.advance(1500ms);
  CHECK(clock.wall() - wall_before == 1500ms);
  CHECK(clock.mono() - mono_before == 1500ms);
  clock.jump_wall(-1h);
  CHECK(clock.wall() - wall_before == 1500ms - 1h);
  CHECK(clock.mono() - mono_before == 1500ms);
}

TEST_CASE("the system clock never runs backwards on its monotonic hand") {
  const SystemClock clock;
  const auto before = clock.mono();
  CHECK(clock.mono() >= before);
  CHECK(clock.wall() > wall(1'600'000'000'000));
}

}  // namespace
}  // namespace mayfly

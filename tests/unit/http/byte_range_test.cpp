#include "http/byte_range.hpp"

#include <catch2/catch.hpp>

using namespace mayfly::http;

namespace {

std::string decide(std::string_view header, std::uint64_t size) {
  const RangeDecision decision = decide_range(header, size);
  switch (decision.outcome) {
    case RangeOutcome::ignored:
      return "ignored";
    case RangeOutcome::unsatisfiable:
      return "unsatisfiable";
    case RangeOutcome::satisfiable:
      return content_range(decision.range, size);
  }
  return "";
}

}  // namespace

TEST_CASE("ranges are cut to the content") {
  CHECK(decide("bytes=0-9", 100) == "bytes 0-9/100");
  CHECK(decide("bytes=90-", 100) == "bytes 90-99/100");
  CHECK(decide("bytes=90-1000", 100) == "bytes 90-99/100");
  CHECK(decide("bytes=-10", 100) == "bytes 90-99/100");
  CHECK(decide("bytes=-1000", 100) == "bytes 0-99/100");
  CHECK(decide("bytes=0-99999999999999999999999", 100) == "bytes 0-99/100");
}

TEST_CASE("ranges outside of the content are unsatisfiable") {
  CHECK(decide("bytes=100-", 100) == "unsatisfiable");
  CHECK(decide("bytes=0-", 0) == "unsatisfiable");
  CHECK(decide("bytes=-0", 100) == "unsatisfiable");
  CHECK(decide("bytes=-5", 0) == "unsatisfiable");
  CHECK(decide("bytes=99999999999999999999999-", 100) == "unsatisfiable");
}

TEST_CASE("what is no single range of bytes is ignored") {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,5-6",
                             "lines=0-9", "bytes=+1-2", "bytes= 0-1", "bytes=0-1x"}) {
    INFO(header);
    CHECK(decide(header, 100) == "ignored");
  }
}

TEST_CASE("a growing content has no size yet") {
  CHECK(content_range({.first = 0, .length = 5}, std::nullopt) == "bytes 0-4/*");
}

#include "base/bytes.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace mayfly {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("F44 parse_decimal reads plain decimal and nothing that only looks like it") {
  CHECK(parse_decimal("0") == 0U);
  CHECK(parse_decimal("64") == 64U);
  CHECK(parse_decimal("18446744073709551615") == 18446744073709551615U);
  const auto* const refused =
      GENERATE("", "0100", "08", "00", "0x40", "1_000", "1e3", "64.0", "+5", "-1", " 5", "5 ", "~",
               "18446744073709551616", "99999999999999999999999", "٣", "1,5", "no", "nan");
  CAPTURE(refused);
  const auto result = parse_decimal(refused);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(result.error().message, Contains("plain decimal"));
}

TEST_CASE("parse_bytes reads powers of 1024 and of 1000 and plain numbers") {
  const std::vector<std::pair<std::string, std::uint64_t>> cases = {
      {"0", 0},
      {"1500", 1500},
      {"64Ki", 65536},
      {"512Mi", 536870912},
      {"1Gi", 1073741824},
      {"2Ti", 2199023255552},
      {"10k", 10000},
      {"500M", 500000000},
      {"1G", 1000000000},
      {"3T", 3000000000000},
      {"9007199254740992", 9007199254740992},
      {"8192Ti", 9007199254740992},
  };
  for (const auto& [text, count] : cases) {
    CAPTURE(text);
    CHECK(parse_bytes(text) == Bytes{count});
  }
}

TEST_CASE("F26 parse_bytes refuses look-alike sizes and names the accepted form") {
  // "512m" is MiB to Docker and thousandths of a byte to Kubernetes.
  const auto* const refused = GENERATE("", "Mi", "512MB", "512mb", "512m", "512MiB", "512K", "512KI", "512ki",
                                       "1.5Gi", "+1Mi", "-1Mi", "1 Mi", " 1Mi", "1Mi ", "1e3", "0x10", "0100",
                                       "01Mi", "1_000", "1Pi", "1Ei", "512B", "nan", "inf", "~", "1Mi1");
  CAPTURE(refused);
  const auto result = parse_bytes(refused);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(result.error().message, Contains("512Mi") && Contains("powers of 1024"));
}

TEST_CASE("parse_bytes refuses more than 2^53 bytes and every overflow") {
  const auto* const refused = GENERATE("9007199254740993", "8193Ti", "18446744073709551615",
                                       "18446744073709551616Ki", "18014398509481984Ki", "9008T");
  CAPTURE(refused);
  CHECK_FALSE(parse_bytes(refused));
}

TEST_CASE("format_bytes gives the shortest exact form") {
  CHECK(format_bytes({0}) == "0");
  CHECK(format_bytes({999}) == "999");
  CHECK(format_bytes({1000}) == "1k");
  CHECK(format_bytes({1024}) == "1Ki");
  CHECK(format_bytes({1500}) == "1500");
  CHECK(format_bytes({1025}) == "1025");
  CHECK(format_bytes(512_MiB) == "512Mi");
  CHECK(format_bytes({500000000}) == "500M");
  CHECK(format_bytes(1_GiB) == "1Gi");
  CHECK(format_bytes({1ULL << 53U}) == "8192Ti");
}

TEST_CASE("parse_bytes reads back what format_bytes writes") {
  for (std::uint64_t count = 1; count < (1ULL << 53U); count = count * 3 + count % 7) {
    CAPTURE(count);
    REQUIRE(parse_bytes(format_bytes({count})) == Bytes{count});
    REQUIRE(parse_bytes(format_bytes({count << 3U & ((1ULL << 53U) - 1)})) ==
            Bytes{count << 3U & ((1ULL << 53U) - 1)});
  }
}

TEST_CASE("parse_millicpus reads whole numbers and decimals and thousandths") {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"0", 0},        {"1", 1000},   {"2", 2000},     {"0.5", 500}, {"1.25", 1250}, {"0.001", 1},
      {"2.000", 2000}, {"500m", 500}, {"1500m", 1500}, {"0m", 0},    {"64", 64000},
  };
  for (const auto& [text, millicpus] : cases) {
    CAPTURE(text);
    CHECK(parse_millicpus(text) == millicpus);
  }
}

TEST_CASE("F44 parse_millicpus refuses look-alike numbers and names the accepted form") {
  const auto* const refused =
      GENERATE("", ".", "1.", ".5", "1,5", "0.0005", "1.0000", "+1", "-1", "1e3", "0x1", "01", "00.5", ".nan",
               ".inf", "nan", "inf", "m", "0.5m", "-500m", "1.5.5", "1 ", "99999999999999999999",
               "9007199254740993m", "9223372036854775808m");
  CAPTURE(refused);
  const auto result = parse_millicpus(refused);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(result.error().message, Contains("\"0.5\"") && Contains("\"500m\""));
}

TEST_CASE("parse_millicpus reads back what format_millicpus writes") {
  CHECK(format_millicpus(0) == "0");
  CHECK(format_millicpus(1000) == "1");
  CHECK(format_millicpus(1500) == "1.5");
  CHECK(format_millicpus(250) == "0.25");
  CHECK(format_millicpus(5) == "0.005");
  CHECK(format_millicpus(-500) == "-0.5");
  for (std::int64_t millicpus = 0; millicpus < 5000; ++millicpus) {
    REQUIRE(parse_millicpus(format_millicpus(millicpus)) == millicpus);
  }
}

}  // namespace
}  // namespace mayfly

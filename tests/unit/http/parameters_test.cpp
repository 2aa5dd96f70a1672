#include "http/handlers/parameters.hpp"

#include <catch2/catch.hpp>

#include "http/handlers/content_disposition.hpp"

using namespace mayfly;
using namespace mayfly::http;

namespace {

std::string key_of(std::string value) {
  Request request;
  request.headers.add("Idempotency-Key", std::move(value));
  const auto key = idempotency_key_of(request);
  return key ? key->value() : "refused";
}

Request with_query(std::string name, std::string value) {
  Request request;
  request.query = {{std::move(name), std::move(value)}};
  return request;
}

}  // namespace

TEST_CASE("an idempotency key is taken quoted and bare") {
  CHECK(key_of("abc-123") == "abc-123");
  CHECK(key_of("\"abc-123\"") == "abc-123");
  CHECK(key_of("\"a \\\"b\\\" \\\\\"") == "a \"b\" \\");
  CHECK(key_of(std::string(255, 'k')) == std::string(255, 'k'));
  for (const std::string bad : {"", "\"\"", "\"a", "a b", "\"a\"b\"", "\"\\n\"", "\"a\\\"", "\xc3\xa9"}) {
    INFO(bad);
    CHECK(key_of(bad) == "refused");
  }
  CHECK(key_of(std::string(256, 'k')) == "refused");
}

TEST_CASE("flags and numbers and times are strict") {
  CHECK(flag_of(with_query("f", "true"), "f").value());
  CHECK(flag_of(with_query("f", ""), "f").value());
  CHECK_FALSE(flag_of(with_query("f", "false"), "f").value());
  CHECK_FALSE(flag_of(with_query("g", "x"), "f").value());
  CHECK_FALSE(flag_of(with_query("f", "yes"), "f"));
  CHECK(number_of(with_query("n", "7"), "n", 1, 10, 5).value() == 7);
  CHECK(number_of(with_query("m", "7"), "n", 1, 10, 5).value() == 5);
  for (const char* bad : {"0", "11", "", "+7", "07", "7.0", "99999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(number_of(with_query("n", bad), "n", 1, 10, 5));
  }
  CHECK(time_of(with_query("t", "2026-11-30T18:40:06Z"), "t")->has_value());
  CHECK_FALSE(time_of(with_query("t", "yesterday"), "t"));
}

TEST_CASE("entity tags are compared weakly in a list") {
  CHECK(etag_matches("\"1\"", "\"1\""));
  CHECK(etag_matches("\"0\", W/\"1\" ,\"2\"", "\"1\""));
  CHECK(etag_matches("*", "\"1\""));
  CHECK_FALSE(etag_matches("\"10\"", "\"1\""));
  CHECK_FALSE(etag_matches("", "\"1\""));
}

TEST_CASE("P06 file names of tasks can not break out of Content-Disposition") {
  CHECK(content_disposition("out/report.txt") == "attachment; filename=\"report.txt\"");
  CHECK(content_disposition("a\"; filename=\"evil.html") ==
        "attachment; filename=\"a___filename__evil.html\"; "
        "filename*=UTF-8''a%22%3B%20filename%3D%22evil.html");
  CHECK(content_disposition("a\r\nX: y") ==
        "attachment; filename=\"a__X__y\"; filename*=UTF-8''a%0D%0AX%3A%20y");
  CHECK(content_disposition("\xff\xfe") == "attachment; filename=\"__\"");
  CHECK(content_disposition("%2f") == "attachment; filename=\"_2f\"; filename*=UTF-8''%252f");
  CHECK(content_disposition(".bashrc") == "attachment; filename=\"_bashrc\"; filename*=UTF-8''.bashrc");
}

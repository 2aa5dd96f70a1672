#include "base/error.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

namespace mayfly {
namespace {

constexpr int kLastCode = static_cast<int>(ErrorCode::internal);

TEST_CASE("every error code has its own name and a status of class 4xx or 5xx") {
  std::set<std::string_view> names;
  for (int i = 0; i <= kLastCode; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CAPTURE(name_of(code));
    CHECK(names.insert(name_of(code)).second);
    CHECK(http_status(code) >= 400);
    CHECK(http_status(code) <= 599);
  }
  CHECK(names.contains("policy_denied"));
  CHECK(names.contains("engine_unreachable"));
}

TEST_CASE("what may succeed later is retryable and what can never be right is not") {
  CHECK(is_retryable(ErrorCode::unavailable));
  CHECK(is_retryable(ErrorCode::rate_limited));
  CHECK(is_retryable(ErrorCode::engine_unreachable));
  CHECK_FALSE(is_retryable(ErrorCode::invalid_argument));
  CHECK_FALSE(is_retryable(ErrorCode::policy_denied));
  CHECK_FALSE(is_retryable(ErrorCode::internal));
}

TEST_CASE("a full disk is told from other failed system calls") {
  const Result<int> full = fail_errno("write the log", ENOSPC);
  const Result<int> quota = fail_errno("write the log", EDQUOT);
  const Result<int> other = fail_errno("write the log", EIO);
  CHECK(full.error().code == ErrorCode::disk_full);
  CHECK(quota.error().code == ErrorCode::disk_full);
  CHECK(other.error().code == ErrorCode::io);
  CHECK(other.error().message == "write the log: Input/output error");
}

TEST_CASE("fail_with carries an error over to another type whole") {
  const Result<int> failed =
      fail(ErrorCode::unprocessable, "no", {{"/limits/memory", "out_of_range", "too small"}});
  const Result<std::string> copied = fail_with(failed);
  const Result<void> moved = fail_with(Result<int>(failed));
  CHECK(copied.error().fields == failed.error().fields);
  CHECK(moved.error().fields.at(0).pointer == "/limits/memory");
  CHECK(moved.error().code == ErrorCode::unprocessable);
  CHECK(moved.error().message == "no");
}

}  // namespace
}  // namespace mayfly

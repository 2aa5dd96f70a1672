#include "lifecycle/failure.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

Failure failure(ErrorCode code, Phase phase) {
  return failure_of(Error{.code = code, .message = "why"}, phase);
}

}  // namespace

TEST_CASE("only an engine out of reach before the bind may be tried again") {
  REQUIRE(failure(ErrorCode::engine_unreachable, Phase::prepare).may_retry);
  REQUIRE(failure(ErrorCode::engine_unreachable, Phase::create).may_retry);
  REQUIRE(failure(ErrorCode::engine_unreachable, Phase::start).may_retry);
  REQUIRE_FALSE(failure(ErrorCode::engine_unreachable, Phase::run).may_retry);
  REQUIRE_FALSE(failure(ErrorCode::engine_refused, Phase::create).may_retry);
}

TEST_CASE("F37 a missing object is the image in prepare and the sandbox elsewhere") {
  REQUIRE(failure(ErrorCode::not_found, Phase::prepare).reason == Reason::image_unavailable);
  REQUIRE(failure(ErrorCode::not_found, Phase::start).reason == Reason::container_vanished);
}

TEST_CASE("each phase has its own timeout reason") {
  REQUIRE(failure(ErrorCode::deadline_exceeded, Phase::prepare).reason == Reason::prepare_timeout);
  REQUIRE(failure(ErrorCode::deadline_exceeded, Phase::create).reason == Reason::start_timeout);
  REQUIRE(failure(ErrorCode::deadline_exceeded, Phase::start).reason == Reason::start_timeout);
  REQUIRE(failure(ErrorCode::deadline_exceeded, Phase::run).reason == Reason::runner_lost);
}

TEST_CASE("C13 a container that is not what was asked is untrusted") {
  REQUIRE(failure(ErrorCode::forbidden, Phase::create).reason == Reason::runtime_untrusted);
}

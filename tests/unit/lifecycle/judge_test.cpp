#include <catch2/catch.hpp>

#include "lifecycle/finish.hpp"

using namespace mayfly;

namespace {

channel::Ended ended(int exit_code) {
  channel::Ended end;
  end.end.exit_code = exit_code;
  return end;
}

}  // namespace

TEST_CASE("a task that succeeded without a declared result failed") {
  Collected collected;
  collected.missing = {"report.json"};
  const Verdict verdict = judge(ended(0), collected, Reason::none);
  REQUIRE(verdict.state == TaskState::failed);
  REQUIRE(verdict.reason == Reason::output_missing);
  REQUIRE(verdict.exit_code == 0);
  REQUIRE_THAT(verdict.message, Catch::Contains("report.json"));
}

TEST_CASE("a task that failed by itself keeps its own reason") {
  Collected collected;
  collected.missing = {"report.json"};
  const Verdict verdict = judge(ended(3), collected, Reason::none);
  REQUIRE(verdict.reason == Reason::exit_nonzero);
  REQUIRE(verdict.exit_code == 3);
}

TEST_CASE("results that could not be kept are named in the verdict") {
  Collected collected;
  collected.problem = "over the bound";
  collected.reason = Reason::output_missing;
  REQUIRE(judge(ended(0), collected, Reason::none).reason == Reason::output_missing);
  REQUIRE_THAT(judge(ended(1), collected, Reason::none).message, Catch::Contains("over the bound"));
}

TEST_CASE("everything in place is a success") {
  const Verdict verdict = judge(ended(0), {}, Reason::none);
  REQUIRE(verdict.state == TaskState::succeeded);
  REQUIRE(verdict.reason == Reason::none);
}

TEST_CASE("what the runner said of the end stands in the message") {
  channel::Ended end = ended(127);
  end.end.cause = Reason::command_not_found;
  end.message = "exec /no/such: No such file or directory";
  REQUIRE_THAT(judge(end, {}, Reason::none).message, Catch::Contains("exec /no/such"));
}

TEST_CASE("results that our own disk could not take are not the user's fault") {
  Collected collected;
  collected.problem = "the results could not be kept: no space left";
  collected.reason = Reason::no_space;
  const Verdict verdict = judge(ended(0), collected, Reason::none);
  REQUIRE(verdict.reason == Reason::no_space);
  REQUIRE(class_of(verdict.reason) == ReasonClass::infra);
  REQUIRE(verdict.exit_code == 0);
}

// The decisions of a task's life: given this event at this time, expect that step.
#include "runtime-image/runner/life.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::runner;
using channel::RunnerState;

namespace {

channel::BindSpec spec_with(std::int64_t run_ms, std::int64_t idle_ms, std::int64_t cpu_ms = 0) {
  channel::BindSpec spec;
  spec.run_ms = run_ms;
  spec.idle_ms = idle_ms;
  spec.cpu_ms = cpu_ms;
  spec.stop_ms = 100;
  spec.lease_ms = 1'000'000;
  return spec;
}

Life running(const channel::BindSpec& spec) {
  Life life(0);
  life.bind(spec, 0);
  life.started(0);
  return life;
}

}  // namespace

TEST_CASE("a life without events goes from parked to bound to running") {
  Life life(0);
  CHECK(life.state() == RunnerState::parked);
  life.bind(spec_with(0, 0), 5);
  CHECK(life.state() == RunnerState::bound);
  life.started(7);
  CHECK(life.state() == RunnerState::running);
  CHECK(life.next(1000) == Step::none);
}

TEST_CASE("the end waits for the tree and then for the pipes") {
  Life life = running(spec_with(0, 0));
  life.main_ended(10);
  CHECK(life.state() == RunnerState::stopping);
  CHECK(life.next(10) == Step::kill);
  CHECK(life.next(11) == Step::none);
  CHECK(life.next(10 + Life::kKillAgainMs) == Step::kill);
  life.tree_gone();
  CHECK(life.next(40) == Step::none);
  life.drained();
  CHECK(life.next(50) == Step::report);
  life.reported(50);
  CHECK(life.state() == RunnerState::ended);
  CHECK(life.next(60) == Step::none);
  life.released(70);
  CHECK(life.next(70) == Step::leave);
  CHECK(life.leave_reason() == LeaveReason::released);
  CHECK(life.cause() == Reason::none);
}

TEST_CASE("a stop terminates once and kills after the grace until the main process is gone") {
  Life life = running(spec_with(0, 0));
  life.stop(Reason::cancelled_by_user, StopHow::gracefully, 500, 100);
  CHECK(life.next(100) == Step::terminate);
  CHECK(life.next(101) == Step::none);
  CHECK(life.wake_at(101) == 600);
  CHECK_FALSE(life.has_killed());
  CHECK(life.next(600) == Step::kill);
  CHECK(life.has_killed());
  CHECK(life.next(601) == Step::none);
  CHECK(life.next(600 + Life::kKillAgainMs) == Step::kill);
}

TEST_CASE("a stop at once sends no SIGTERM first") {
  Life life = running(spec_with(0, 0));
  life.stop(Reason::cancelled_by_user, StopHow::at_once, 500, 100);
  CHECK(life.next(100) == Step::kill);
}

TEST_CASE("the first cause of an end stays") {
  Life life = running(spec_with(1000, 0));
  CHECK(life.next(1000) == Step::terminate);
  life.stop(Reason::cancelled_by_user, StopHow::gracefully, 0, 1010);
  CHECK(life.next(1010) == Step::kill);
  CHECK(life.cause() == Reason::run_timeout);
}

TEST_CASE("a later stop with a longer grace does not delay the kill") {
  Life life = running(spec_with(0, 0));
  life.stop(Reason::cancelled_by_user, StopHow::gracefully, 100, 0);
  CHECK(life.next(0) == Step::terminate);
  life.stop(Reason::superseded, StopHow::gracefully, 10'000, 50);
  CHECK(life.next(100) == Step::kill);
}

TEST_CASE("a process that ended by itself keeps its own end when a stop comes late") {
  Life life = running(spec_with(0, 0));
  life.main_ended(10);
  life.stop(Reason::cancelled_by_user, StopHow::at_once, 0, 11);
  CHECK(life.cause() == Reason::none);
}

TEST_CASE("limits no longer run once the main process has ended") {
  Life life = running(spec_with(1000, 500, 100));
  life.main_ended(10);
  life.used_cpu(5000, 20);
  life.tree_gone();
  CHECK(life.next(50'000) == Step::none);
  CHECK(life.cause() == Reason::none);
}

TEST_CASE("R10 the idle clock begins anew with each output") {
  Life life = running(spec_with(0, 500));
  life.had_output(400);
  CHECK(life.next(899) == Step::none);
  CHECK(life.wake_at(899) == 900);
  CHECK(life.next(900) == Step::terminate);
  CHECK(life.cause() == Reason::idle_timeout);
}

TEST_CASE("stalled time is neither run nor idle time") {
  Life life = running(spec_with(1000, 500));
  life.stalled(true, 100);
  CHECK(life.next(90'000) == Step::none);
  CHECK(life.stalled_ms(90'000) == 89'900);
  life.stalled(false, 100'100);
  CHECK(life.stalled_ms(200'000) == 100'000);
  CHECK(life.next(100'499) == Step::none);
  CHECK(life.wake_at(100'499) == 100'500);
  life.had_output(100'499);
  CHECK(life.next(100'998) == Step::none);
  CHECK(life.next(100'999) == Step::terminate);
  CHECK(life.cause() == Reason::idle_timeout);
}

TEST_CASE("the run limit is prolonged by what was stalled") {
  Life life = running(spec_with(1000, 0));
  life.stalled(true, 500);
  life.stalled(false, 5500);
  CHECK(life.next(5999) == Step::none);
  CHECK(life.next(6000) == Step::terminate);
  CHECK(life.cause() == Reason::run_timeout);
}

TEST_CASE("the CPU limit stops with the spec's grace") {
  Life life = running(spec_with(0, 0, 300));
  life.used_cpu(299, 1000);
  CHECK(life.next(1000) == Step::none);
  life.used_cpu(300, 1100);
  CHECK(life.next(1100) == Step::terminate);
  CHECK(life.next(1200) == Step::kill);
  CHECK(life.cause() == Reason::cpu_time);
}

TEST_CASE("F08 the log limit kills at once and is the cause also after the process has ended") {
  Life flood = running(spec_with(0, 0));
  flood.passed_log_limit(10);
  CHECK(flood.next(10) == Step::kill);
  CHECK(flood.cause() == Reason::log_limit);
  Life late = running(spec_with(0, 0));
  late.main_ended(10);
  late.passed_log_limit(11);
  CHECK(late.cause() == Reason::log_limit);
}

TEST_CASE("a process that did not start is reported and nothing is killed") {
  Life life(0);
  life.bind(spec_with(0, 0), 0);
  life.not_started(Reason::command_not_found);
  CHECK(life.next(1) == Step::report);
  life.reported(1);
  life.main_ended(2);  // the trampoline's own end
  CHECK(life.state() == RunnerState::ended);
  CHECK(life.cause() == Reason::command_not_found);
}

TEST_CASE("a stop while the process is being started ends what starts") {
  Life life(0);
  life.bind(spec_with(0, 0), 0);
  life.stop(Reason::cancelled_by_user, StopHow::gracefully, 100, 5);
  CHECK(life.next(5) == Step::terminate);
  life.started(6);
  CHECK(life.state() == RunnerState::stopping);
  CHECK(life.next(105) == Step::kill);
}

TEST_CASE("a parked runner leaves when the lease ends and every line renews it") {
  Life life(0);
  life.heard(1000);
  CHECK(life.next(Life::kParkedLeaseMs) == Step::none);
  CHECK(life.wake_at(1000) == 1000 + Life::kParkedLeaseMs);
  CHECK(life.next(1000 + Life::kParkedLeaseMs) == Step::leave);
  CHECK(life.leave_reason() == LeaveReason::lease);
}

TEST_CASE("the lease stops a running task and does not wait for a release or for room in the spool") {
  Life life = running(spec_with(0, 0));
  CHECK(life.next(1'000'000) == Step::terminate);
  CHECK(life.next(1'000'100) == Step::kill);
  life.main_ended(1'000'101);
  life.tree_gone();
  CHECK(life.next(1'000'102) == Step::report);
  life.reported(1'000'102);
  CHECK(life.next(1'000'103) == Step::leave);
  CHECK(life.cause() == Reason::runner_lost);
}

TEST_CASE("an end that nobody fetches is given up with the lease") {
  Life life = running(spec_with(0, 0));
  life.main_ended(1);
  life.tree_gone();
  life.drained();
  CHECK(life.next(2) == Step::report);
  life.reported(2);
  CHECK(life.next(999'999) == Step::none);
  CHECK(life.next(1'000'000) == Step::leave);
  CHECK(life.cause() == Reason::none);
}

TEST_CASE("SIGTERM from outside stops and holds the end for a short while only") {
  Life life = running(spec_with(0, 0));
  life.stop_from_outside(50);
  CHECK(life.next(50) == Step::terminate);
  life.main_ended(60);
  life.tree_gone();
  life.drained();
  CHECK(life.next(61) == Step::report);
  life.reported(61);
  CHECK(life.next(62) == Step::none);
  CHECK(life.next(60 + Life::kOutsideHoldMs) == Step::none);
  CHECK(life.next(61 + Life::kOutsideHoldMs) == Step::leave);
  CHECK(life.leave_reason() == LeaveReason::told_from_outside);
  CHECK(life.cause() == Reason::killed_externally);
}

TEST_CASE("a process that cannot be killed does not hold the end for ever") {
  Life life = running(spec_with(0, 0));
  life.main_ended(0);
  life.drained();
  CHECK(life.next(0) == Step::kill);
  CHECK(life.next(Life::kGiveUpKillingMs) == Step::report);
}

TEST_CASE("a release while the task runs kills it and leaves") {
  Life life = running(spec_with(0, 0));
  life.released(10);
  CHECK(life.next(10) == Step::kill);
  life.main_ended(11);
  life.tree_gone();
  CHECK(life.next(12) == Step::report);
  life.reported(12);
  CHECK(life.next(13) == Step::leave);
}

#include "lifecycle/stream_decision.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

const MonoTime kNow{std::chrono::hours(10)};

StreamState connected() {
  StreamState state;
  state.connected = state.serving = true;
  state.last_heard = state.carrier_since = kNow;
  state.total = kNow + std::chrono::hours(1);
  state.grace = std::chrono::seconds(10);
  return state;
}

}  // namespace

TEST_CASE("a known end is the end whatever else is true") {
  StreamState state = connected();
  state.ended = true;
  state.stop_wanted = true;
  state.serving = false;
  REQUIRE(decide_next(state, kNow).action == StreamAction::finish);
}

TEST_CASE("a quiet connected task is waited for until its runner should have spoken") {
  const StreamDecision decision = decide_next(connected(), kNow);
  REQUIRE(decision.action == StreamAction::wait);
  REQUIRE(decision.until == kNow + kSilenceLimit);
  REQUIRE(decide_next(connected(), kNow + kSilenceLimit).action == StreamAction::drop);
}

TEST_CASE("a carrier without a hello is dropped in time") {
  StreamState state = connected();
  state.connected = false;
  REQUIRE(decide_next(state, kNow).until == kNow + kHelloLimit);
  REQUIRE(decide_next(state, kNow + kHelloLimit).action == StreamAction::drop);
}

TEST_CASE("the total time ends a task once") {
  StreamState state = connected();
  state.total = kNow;
  REQUIRE(decide_next(state, kNow).action == StreamAction::want_end);
  state.stop_wanted = true;
  REQUIRE(decide_next(state, kNow).action == StreamAction::send_stop);
}

TEST_CASE("F20 a wanted end goes from stop to kill to giving up") {
  StreamState state = connected();
  state.stop_wanted = true;
  REQUIRE(decide_next(state, kNow).action == StreamAction::send_stop);
  state.stop_sent = kNow;
  REQUIRE(decide_next(state, kNow).action == StreamAction::wait);
  const MonoTime overdue = kNow + state.grace + kStopMargin;
  state.last_heard = overdue;
  REQUIRE(decide_next(state, overdue).action == StreamAction::kill);
  state.kill_sent = overdue;
  REQUIRE(decide_next(state, overdue).action == StreamAction::wait);
  REQUIRE(decide_next(state, overdue + kKillMargin).action == StreamAction::give_up);
}

TEST_CASE("a lost carrier is opened again after its pause also while the task is stopping") {
  StreamState state = connected();
  state.serving = state.connected = false;
  state.retry_not_before = kNow + std::chrono::seconds(2);
  REQUIRE(decide_next(state, kNow).action == StreamAction::wait);
  REQUIRE(decide_next(state, kNow).until == state.retry_not_before);
  REQUIRE(decide_next(state, state.retry_not_before).action == StreamAction::reconnect);
  state.stop_wanted = true;
  state.stop_sent = kNow;
  REQUIRE(decide_next(state, state.retry_not_before).action == StreamAction::reconnect);
}

TEST_CASE("F20 a wanted end that no carrier can take goes to the engine") {
  StreamState state = connected();
  state.serving = state.connected = false;
  state.retry_not_before = kNow + std::chrono::hours(1);
  state.stop_wanted = true;
  state.stop_wanted_since = kNow;
  REQUIRE(decide_next(state, kNow).action == StreamAction::wait);
  REQUIRE(decide_next(state, kNow + state.grace + kStopMargin).action == StreamAction::kill);
}

#include "lifecycle/stream_decision.hpp"

#include <algorithm>

namespace mayfly {
namespace {

StreamDecision wait_until(MonoTime until) {
  return {.action = StreamAction::wait, .until = until};
}

// When the stop goes on to its next stage, given that the present one was begun at `since`.
StreamDecision stage(StreamAction next, MonoTime since, Millis margin, MonoTime now) {
  const MonoTime due = since + margin;
  if (now >= due) return {.action = next, .until = {}};
  return wait_until(due);
}

std::optional<StreamDecision> decide_stop(const StreamState& state, MonoTime now) {
  if (!state.stop_wanted) return std::nullopt;
  if (state.kill_sent) return stage(StreamAction::give_up, *state.kill_sent, kKillMargin, now);
  if (state.stop_sent) return stage(StreamAction::kill, *state.stop_sent, state.grace + kStopMargin, now);
  if (state.connected) return StreamDecision{.action = StreamAction::send_stop, .until = {}};
  // No carrier to send it over (the sandbox is paused, perhaps): the engine's kill reaches it all the same.
  return stage(StreamAction::kill, state.stop_wanted_since.value_or(now), state.grace + kStopMargin, now);
}

}  // namespace

StreamDecision decide_next(const StreamState& state, MonoTime now) {
  if (state.ended) return {.action = StreamAction::finish, .until = {}};
  if (!state.stop_wanted && now >= state.total) return {.action = StreamAction::want_end, .until = {}};

  const auto stop = decide_stop(state, now);
  if (stop && stop->action != StreamAction::wait) return *stop;
  MonoTime until = state.stop_wanted ? MonoTime::max() : state.total;
  if (stop) until = std::min(until, stop->until);

  if (!state.serving) {
    if (now >= state.retry_not_before) return {.action = StreamAction::reconnect, .until = {}};
    return wait_until(std::min(until, state.retry_not_before));
  }
  const MonoTime quiet_until =
      state.connected ? state.last_heard + kSilenceLimit : state.carrier_since + kHelloLimit;
  if (now >= quiet_until) return {.action = StreamAction::drop, .until = {}};
  return wait_until(std::min(until, quiet_until));
}

}  // namespace mayfly

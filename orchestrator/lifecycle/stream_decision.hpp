// What to do next for an attempt whose runner is bound: a pure decision over what is known, so that every
// case of it is a line in a test. stream.cpp performs.
#pragma once

#include <optional>

#include "base/clock.hpp"

namespace mayfly {

struct StreamState {
  bool ended = false;  // the runner's `ended` stands in the log segment
  bool stop_wanted = false;
  std::optional<MonoTime> stop_wanted_since;  // when that was first seen
  std::optional<MonoTime> stop_sent;          // when `stop` was sent over the channel
  std::optional<MonoTime> kill_sent;          // when the engine was asked to kill
  bool connected = false;                     // hello seen on a living carrier
  bool serving = false;                       // a carrier is open
  MonoTime last_heard{};                      // last byte from the runner
  MonoTime carrier_since{};                   // when the present carrier was opened
  MonoTime retry_not_before{};
  MonoTime total{};  // the task's last moment
  Millis grace{};    // between SIGTERM and SIGKILL inside
};

enum class StreamAction {
  finish,     // the end is known
  want_end,   // the total time is over
  send_stop,  // over the channel
  kill,       // through the engine: the runner did not end in time
  give_up,    // the engine's kill did nothing visible either: the end will not come
  reconnect,  // inspect the sandbox, then a new carrier
  drop,       // the carrier is silent or says no hello: close it
  wait,       // until `until`, or until something changes
};

struct StreamDecision {
  StreamAction action = StreamAction::wait;
  MonoTime until{};
};

inline constexpr Millis kStopMargin{5'000};     // beyond the grace, for the runner to report
inline constexpr Millis kKillMargin{5'000};     // for the carrier to end after the engine's kill
inline constexpr Millis kSilenceLimit{30'000};  // the runner speaks every second
inline constexpr Millis kHelloLimit{10'000};

StreamDecision decide_next(const StreamState& state, MonoTime now);

}  // namespace mayfly

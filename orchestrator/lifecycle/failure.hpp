// Why an attempt could not go on, before or instead of its process's own end. Pure values.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "async/task_types.hpp"
#include "task/task_state.hpp"

namespace mayfly {

enum class Phase { prepare, create, start, run, collect };

struct Failure {
  Reason reason = Reason::internal;
  std::string message;
  // The engine was out of reach or refused, and it is proved that the user's process never started: a new
  // attempt may be made.
  bool may_retry = false;
};

template <class T = void>
using Step = asio::awaitable<tl::expected<T, Failure>>;

// The reason for an error of the runtime or the channel in a phase. `may_retry` is set for faults of the
// engine before the bind.
Failure failure_of(const Error& error, Phase phase);
// For a wait that ended because the task is wanted to end.
Failure stopped(Reason reason);

}  // namespace mayfly

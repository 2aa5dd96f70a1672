// Phase: the verdict. Recorded once, before any clean-up, and never changed.
#pragma once

#include <tl/expected.hpp>

#include "lifecycle/attempt.hpp"
#include "lifecycle/collect.hpp"

namespace mayfly {

// The verdict on what the runner reported, after collection: pure.
Verdict judge(const channel::Ended& ended, const Collected& collected, Reason first_cause);

// Says that nothing more will come. After the verdict, so that a process that dies in between can still go on
// with the attempt; a failure is only logged, since followers of a task that is over end all the same
// (views.cpp).
asio::awaitable<void> seal_log(Services& services, TaskId id);

// Syncs the log (with a gap record when the runner died with output in hand), saves artifacts and
// then the verdict. From here on the task is over for its user; only its sandbox is left.
asio::awaitable<void> finish(LiveTask& task, Services& services, LogWriter* writer, Verdict verdict,
                             Collected collected, std::optional<std::string> gap);

}  // namespace mayfly

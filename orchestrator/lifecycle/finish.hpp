// Phase: the verdict. Recorded once, before any clean-up, and never changed.
#pragma once

#include <tl/expected.hpp>

#include "lifecycle/attempt.hpp"
#include "lifecycle/collect.hpp"

namespace mayfly {

// The verdict on what the runner reported, after collection: pure.
Verdict judge(const channel::Ended& ended, const Collected& collected, Reason first_cause);

// Syncs and seals the log (with a gap record when the runner died with output in hand), saves artifacts and
// then the verdict. From here on the task is over for its user; only its sandbox is left.
asio::awaitable<void> finish(LiveTask& task, Services& services, LogWriter* writer, Verdict verdict,
                             Collected collected, std::optional<std::string> gap);

}  // namespace mayfly

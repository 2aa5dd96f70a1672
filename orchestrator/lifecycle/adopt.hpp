// Phase: taking over a sandbox whose runner was bound by an earlier process.
#pragma once

#include "lifecycle/attempt.hpp"

namespace mayfly {

// Reads from the segment what that process had learnt, and opens the conversation where the segment ends. A
// runner that was never bound is `may_retry`: its process is proved not to have started.
Step<> adopt(Attempt& attempt);

}  // namespace mayfly

// Phase: a bound task, from its first output to its end.
#pragma once

#include "lifecycle/attempt.hpp"

namespace mayfly {

// Follows the runner until its `ended` stands in the log segment, over as many carriers as it takes; carries
// a wanted end through (stop, then kill). A Failure means that the end of the process itself will not be
// known.
Step<channel::Ended> stream(Attempt& attempt);

}  // namespace mayfly

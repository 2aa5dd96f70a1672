// Phase: from a scheduled task to a bound runner.
#pragma once

#include "lifecycle/attempt.hpp"

namespace mayfly {

// Resolves the image, creates and starts the sandbox, greets the runner, hands over the inputs and binds.
// Intent is on disk before each step that the engine or the runner carries out. After a failure the sandbox
// may exist: destroy it.
Step<> launch(Attempt& attempt);

}  // namespace mayfly

// Phase: nothing is left. Runs after the verdict and never touches it.
#pragma once

#include "lifecycle/attempt.hpp"

namespace mayfly {

// Lets a connected runner go (`release`), so that it exits by itself. At most about two seconds.
asio::awaitable<void> release(Attempt& attempt);

// Removes container and volume, and tries again with backoff until it is done. Ends early only by
// cancellation; the next start of the program goes on then.
asio::awaitable<void> destroy(LiveTask& task, Services& services);

}  // namespace mayfly

// The runner's own memory under its task's memory limit: whatever it will need is touched while there still
// is some, since a page fault at the limit would have the kernel kill PID 1, and the sandbox with it.
#pragma once

#include <cstddef>

namespace mayfly::runner {

// From now on malloc keeps what it has, and the next `bytes` of it are in memory already; so is some stack.
void warm_memory(std::size_t bytes);

}  // namespace mayfly::runner

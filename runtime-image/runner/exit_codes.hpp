// How the runner's own exit reads, for whoever inspects the container afterwards. Never the task's code.
#pragma once

namespace mayfly::runner {

inline constexpr int kReleased = 0;         // the orchestrator has everything
inline constexpr int kLeaseOver = 3;        // no orchestrator came for the whole lease
inline constexpr int kToldFromOutside = 4;  // SIGTERM of the engine
inline constexpr int kUsage = 64;           // wrong arguments
inline constexpr int kBug = 70;             // an exception reached main
inline constexpr int kCannotHarden = 71;    // no carrier, or the kernel refused what protects it

}  // namespace mayfly::runner

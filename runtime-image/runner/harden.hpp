// The runner's first instructions: what keeps a child, which has the runner's uid, away from the carrier and
// from the runner itself. Called once by main before anything else.
#pragma once

#include "base/error.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {

// The two ends of the channel, out of every child's reach: at high numbers, closed on exec, non-blocking.
struct CarrierFds {
  UniqueFd in, out;
};

// Not dumpable, so that a child of the same uid gets EACCES on /proc/1/fd, mem and environ (it also takes
// being PID 1: then no signal from inside can end us, and nobody can attach). No new privileges, no core
// files, SIGPIPE ignored, a session and process group of our own, and adopter of every orphan also when we
// are not PID 1.
Result<void> harden_process();

// Moves 0 and 1 away and points 0, 1 and 2 at /dev/null, or at a dead end where an image has none; closes
// what else was left open.
Result<CarrierFds> take_carrier();

}  // namespace mayfly::runner

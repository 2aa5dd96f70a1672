// The seccomp filter of every task process, assembled here from a readable table instead of by a library: the
// same rules under Docker (where it stacks on the engine's own filter) and under bubblewrap (where there is
// no other). Pure but for install_filter. Numbers are those of the architecture that is compiled for; others
// are refused.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace mayfly::runner {

// The program. It allows what it does not name, up to the newest call that was judged; newer ones answer
// ENOSYS, so that programs take the older way. Calls by another architecture's numbers (i386, x32) kill the
// process.
//
// A task has the runner's uid, and the kernel lets equal uids change each other's limits and scheduling. So
// calls of that kind that name a process are allowed only as "myself", spelt 0. A process that names its own
// pid, or a thread of its own by tid (pthread_setaffinity_np), gets EPERM too: a filter cannot tell its own
// ids from others.
std::vector<sock_filter> make_task_filter();

// For good, for this process and all its children. Needs NO_NEW_PRIVS. False with errno set when it failed.
bool install_filter(std::vector<sock_filter>& program);

}  // namespace mayfly::runner

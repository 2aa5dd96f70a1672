#include "harden.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <climits>

namespace mayfly::runner {
namespace {

constexpr int kCarrierPipeBytes = 1 << 20;

bool lead_to_nowhere(int read_from, int write_to) {
  return ::dup2(read_from, 0) == 0 && ::dup2(write_to, 1) == 1 && ::dup2(write_to, 2) == 2;
}

Result<void> quiet_standard_streams() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null && lead_to_nowhere(null.get(), null.get())) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail_errno("pipe", errno);
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  if (!lead_to_nowhere(from.get(), to.get())) return fail_errno("dup2", errno);
  return {};
}

bool make_non_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

}  // namespace

Result<void> harden_process() {
  if (::prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) != 0) return fail_errno("PR_SET_DUMPABLE", errno);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0) return fail_errno("PR_SET_NO_NEW_PRIVS", errno);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) != 0)
    return fail_errno("PR_SET_CHILD_SUBREAPER", errno);
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return fail_errno("RLIMIT_CORE", errno);
  if (::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return fail_errno("SIGPIPE", errno);
  ::setsid();  // fails harmlessly where we lead a session already
  ::umask(022);
  return {};
}

Result<CarrierFds> take_carrier() {
  // What a careless parent left open would be the task's to use. Before Linux 5.9 there is no such call.
  ::syscall(SYS_close_range, 3U, UINT_MAX, 0U);
  CarrierFds carrier{.in = raise_fd(0), .out = raise_fd(1)};
  if (!carrier.in || !carrier.out) return fail_errno("no carrier on 0 and 1", errno);
  if (auto quiet = quiet_standard_streams(); !quiet) return fail_with(std::move(quiet));
  if (!make_non_blocking(carrier.in.get()) || !make_non_blocking(carrier.out.get())) {
    return fail_errno("O_NONBLOCK on the carrier", errno);
  }
  // Fewer and bigger writes; a carrier that is no pipe, or a small pipe-user-pages-soft, does without.
  ::fcntl(carrier.out.get(), F_SETPIPE_SZ, kCarrierPipeBytes);
  ::fcntl(carrier.in.get(), F_SETPIPE_SZ, kCarrierPipeBytes);
  return carrier;
}

}  // namespace mayfly::runner

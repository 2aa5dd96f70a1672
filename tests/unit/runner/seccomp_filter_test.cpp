// The children's seccomp filter: interpreted here instruction by instruction, and installed for real in a
// forked child.
#include "runtime-image/runner/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

using namespace mayfly::runner;

namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

bool compare(const sock_filter& jump, std::uint32_t accumulator) {
  switch (BPF_OP(jump.code)) {
    case BPF_JEQ:
      return accumulator == jump.k;
    case BPF_JGE:
      return accumulator >= jump.k;
    case BPF_JSET:
      return (accumulator & jump.k) != 0;
  }
  FAIL("an instruction that the filter has no use for");
  return false;
}

std::uint32_t interpret(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& now = program[at];
    if (BPF_CLASS(now.code) == BPF_RET) return now.k;
    if (BPF_CLASS(now.code) == BPF_LD) {
      REQUIRE(now.k + 4 <= sizeof data);
      std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + now.k, 4);
    } else {
      at += compare(now, accumulator) ? now.jt : now.jf;
    }
  }
  FAIL("the filter ends without an answer");
  return 0;
}

std::uint32_t answer(long call, std::vector<std::uint64_t> arguments = {},
                     std::uint32_t architecture = kArchitecture) {
  static const auto program = make_task_filter();
  seccomp_data data{};
  data.nr = static_cast<int>(call);
  data.arch = architecture;
  for (std::size_t i = 0; i < arguments.size(); ++i) data.args[i] = arguments[i];
  return interpret(program, data);
}

// Runs `probe` under the filter in a child; its return value.
int under_the_filter(int (*probe)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto program = make_task_filter();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0 || !install_filter(program)) ::_exit(99);
    ::_exit(probe());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

int errno_of(long result) {
  return result < 0 ? errno : 0;
}

}  // namespace

TEST_CASE("C06 what a program needs is allowed") {
  for (const long call : {SYS_read,
                          SYS_write,
                          SYS_openat,
                          SYS_openat2,
                          SYS_execve,
                          SYS_mmap,
                          SYS_futex,
                          SYS_kill,
                          SYS_wait4,
                          SYS_exit_group,
                          SYS_prctl,
                          SYS_seccomp,
                          SYS_setrlimit,
                          SYS_sched_getaffinity,
                          SYS_getpriority,
                          SYS_epoll_pwait,
                          SYS_memfd_create,
                          SYS_pidfd_open,
                          SYS_pidfd_send_signal,
                          SYS_landlock_create_ruleset,
                          SYS_rseq,
                          SYS_statx}) {
    CHECK(answer(call) == kAllow);
  }
}

TEST_CASE("C06 C09 namespaces mounts and doors into the kernel are refused") {
  for (const long call :
       {SYS_unshare,       SYS_setns,         SYS_mount,        SYS_umount2,         SYS_pivot_root,
        SYS_fsopen,        SYS_fsconfig,      SYS_fsmount,      SYS_fspick,          SYS_move_mount,
        SYS_open_tree,     SYS_mount_setattr, SYS_bpf,          SYS_perf_event_open, SYS_userfaultfd,
        SYS_keyctl,        SYS_add_key,       SYS_request_key,  SYS_memfd_secret,    SYS_init_module,
        SYS_finit_module,  SYS_delete_module, SYS_kexec_load,   SYS_reboot,          SYS_swapon,
        SYS_swapoff,       SYS_acct,          SYS_settimeofday, SYS_clock_settime,   SYS_open_by_handle_at,
        SYS_fanotify_init, SYS_quotactl,      SYS_syslog}) {
    CHECK(answer(call) == kRefuse);
  }
}

TEST_CASE("C11 reaching into other processes is refused") {
  for (const long call : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
                          SYS_process_madvise, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    CHECK(answer(call) == kRefuse);
  }
}

TEST_CASE("C06 calls with a fallback answer that there is none") {
  for (const long call : {SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
    CHECK(answer(call) == kUnknown);
  }
  CHECK(answer(463) == kUnknown);
  CHECK(answer(5000) == kUnknown);
  CHECK(answer(-1) == kUnknown);
  CHECK(answer(462) == kAllow);
}

TEST_CASE("C06 calls by the numbers of another architecture kill") {
  CHECK(answer(SYS_getpid, {}, AUDIT_ARCH_I386) == SECCOMP_RET_KILL_PROCESS);
  CHECK(answer(SYS_getpid, {}, AUDIT_ARCH_ARM) == SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
  CHECK(answer(0x40000000 + SYS_getpid) == SECCOMP_RET_KILL_PROCESS);
#endif
}

TEST_CASE("C06 only unix internet and route netlink sockets") {
  for (const long call : {SYS_socket, SYS_socketpair}) {
    for (const std::uint64_t family : {AF_UNIX, AF_INET, AF_INET6}) CHECK(answer(call, {family}) == kAllow);
    for (int family = 0; family < 60; ++family) {
      if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
      CHECK(answer(call, {static_cast<std::uint64_t>(family)}) == kRefuse);
    }
    CHECK(answer(call, {AF_NETLINK, SOCK_RAW, 0}) == kAllow);
    for (std::uint64_t protocol = 1; protocol < 25; ++protocol) {
      CHECK(answer(call, {AF_NETLINK, SOCK_RAW, protocol}) == kRefuse);
    }
    // The kernel reads the family as an int: what stands above does not hide it.
    CHECK(answer(call, {0x1'0000'0000ULL + AF_ALG}) == kRefuse);
  }
}

TEST_CASE("C19 writing limits of a process that is named is refused and reading them is not") {
  constexpr std::uint64_t kLimits = 0x7fff'0000'1000, kLowLimits = 0x7fff'0000'0000;
  CHECK(answer(SYS_prlimit64, {1, RLIMIT_NOFILE, kLimits, 0}) == kRefuse);
  CHECK(answer(SYS_prlimit64, {1, RLIMIT_CPU, kLowLimits, 0}) == kRefuse);
  CHECK(answer(SYS_prlimit64, {1, RLIMIT_CPU, 0x1000, 0}) == kRefuse);
  CHECK(answer(SYS_prlimit64, {1, RLIMIT_NOFILE, 0, kLimits}) == kAllow);
  CHECK(answer(SYS_prlimit64, {0, RLIMIT_NOFILE, kLimits, 0}) == kAllow);
  CHECK(answer(SYS_prlimit64, {0x1'0000'0001ULL, RLIMIT_NOFILE, kLimits, 0}) == kRefuse);
}

TEST_CASE("C19 priorities and schedules only of oneself") {
  CHECK(answer(SYS_setpriority, {PRIO_PROCESS, 0, 5}) == kAllow);
  CHECK(answer(SYS_setpriority, {PRIO_PROCESS, 1, 5}) == kRefuse);
  CHECK(answer(SYS_setpriority, {PRIO_PGRP, 1, 5}) == kRefuse);
  CHECK(answer(SYS_setpriority, {PRIO_USER, 0, 5}) == kRefuse);
  CHECK(answer(SYS_setpriority, {PRIO_USER, 65532, 5}) == kRefuse);
  CHECK(answer(SYS_ioprio_set, {1, 0, 5}) == kAllow);
  CHECK(answer(SYS_ioprio_set, {1, 1, 5}) == kRefuse);
  CHECK(answer(SYS_ioprio_set, {3, 0, 5}) == kRefuse);
  for (const long call :
       {SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity}) {
    CHECK(answer(call, {0}) == kAllow);
    CHECK(answer(call, {1}) == kRefuse);
    CHECK(answer(call, {0x1'0000'0001ULL}) == kRefuse);
  }
}

TEST_CASE("C09 clone without namespaces") {
  CHECK(answer(SYS_clone, {SIGCHLD}) == kAllow);
  CHECK(answer(SYS_clone, {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD}) == kAllow);
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
                                   CLONE_NEWNET, CLONE_NEWCGROUP}) {
    CHECK(answer(SYS_clone, {flag | SIGCHLD}) == kRefuse);
  }
}

TEST_CASE("C17 typing into a terminal is refused") {
  CHECK(answer(SYS_ioctl, {0, TIOCSTI}) == kRefuse);
  CHECK(answer(SYS_ioctl, {0, TIOCLINUX}) == kRefuse);
  CHECK(answer(SYS_ioctl, {0, TCGETS}) == kAllow);
}

TEST_CASE("the filter is within the kernel's bounds") {
  const auto program = make_task_filter();
  CHECK(program.size() < BPF_MAXINSNS);
  CHECK(BPF_CLASS(program.back().code) == BPF_RET);
}

TEST_CASE("C19 the installed filter refuses limits and signals with forged senders") {
  CHECK(under_the_filter([] {
          const rlimit none{0, 0};
          return errno_of(::syscall(SYS_prlimit64, ::getppid(), RLIMIT_NOFILE, &none, nullptr));
        }) == EPERM);
  CHECK(under_the_filter([] {
          siginfo_t forged{};
          forged.si_code = -1;
          return errno_of(::syscall(SYS_rt_sigqueueinfo, ::getpid(), SIGURG, &forged));
        }) == EPERM);
  CHECK(under_the_filter([] { return errno_of(::setpriority(PRIO_PROCESS, 0, 3)); }) == 0);
}

TEST_CASE("C06 the installed filter answers like the interpreted one") {
  CHECK(under_the_filter([] { return errno_of(::socket(AF_ALG, SOCK_SEQPACKET, 0)); }) == EPERM);
  CHECK(under_the_filter([] { return errno_of(::socket(AF_UNIX, SOCK_STREAM, 0)); }) == 0);
  CHECK(under_the_filter([] { return errno_of(::syscall(SYS_clone3, nullptr, 0)); }) == ENOSYS);
  CHECK(under_the_filter([] { return errno_of(::unshare(CLONE_NEWUSER)); }) == EPERM);
  CHECK(under_the_filter([] { return ::fork() == 0 ? (::_exit(0), 0) : 0; }) == 0);
}

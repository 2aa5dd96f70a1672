#include "runtime/docker/seccomp_profile.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "base/json.hpp"

namespace mayfly::docker {
namespace {

using Names = std::span<const std::string_view>;

// Not listed, so EPERM: mount and namespace calls, modules, kexec, bpf, perf, ptrace, process_vm_*, kcmp,
// pidfd_getfd, process_madvise, userfaultfd, memfd_secret, the key ring, handles (name_to_handle_at,
// open_by_handle_at), fanotify, clocks and host names, swap, quota, accounting, chroot, raw I/O, NUMA policy,
// modify_ldt, vhangup, syslog.

constexpr auto kFiles = std::to_array<std::string_view>(
    {"access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2",
     "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2",
     "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr",
     "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd", "getdents", "getdents64",
     "getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "ioctl", "lchown",
     "lgetxattr", "link", "linkat", "listxattr", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat",
     "mkdir", "mkdirat",
     // Without CAP_MKNOD these make fifos and sockets only; mkfifo(3) is built on them.
     "mknod", "mknodat", "newfstatat", "open", "openat", "openat2", "pipe", "pipe2", "pread64", "preadv",
     "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv",
     "removexattr", "rename", "renameat", "renameat2", "rmdir", "sendfile", "setxattr", "splice", "stat",
     "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "tee", "truncate",
     "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
     // Linux's own asynchronous I/O, not io_uring.
     "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit"});

constexpr auto kWaiting = std::to_array<std::string_view>(
    {"epoll_create",    "epoll_create1",   "epoll_ctl",       "epoll_pwait", "epoll_pwait2", "epoll_wait",
     "eventfd",         "eventfd2",        "futex",           "futex_waitv", "futex_wait",   "futex_wake",
     "futex_requeue",   "get_robust_list", "pause",           "poll",        "ppoll",        "pselect6",
     "restart_syscall", "select",          "set_robust_list", "membarrier"});

constexpr auto kMemory =
    std::to_array<std::string_view>({"brk",        "madvise",   "map_shadow_stack", "memfd_create",
                                     "mincore",    "mlock",     "mlock2",           "mlockall",
                                     "mmap",       "mprotect",  "mremap",           "mseal",
                                     "msync",      "munlock",   "munlockall",       "munmap",
                                     "pkey_alloc", "pkey_free", "pkey_mprotect",    "remap_file_pages",
                                     "cachestat",  "shmat",     "shmctl",           "shmdt",
                                     "shmget",     "rseq"});

constexpr auto kProcesses = std::to_array<std::string_view>(
    {// clone stands below with its flags. capset and the set*id family can only give up what there is none
     // of.
     "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "getcpu", "getegid", "geteuid",
     "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
     "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get",
     "ioprio_set", "kill", "pidfd_open", "pidfd_send_signal", "prctl", "prlimit64", "sched_get_priority_max",
     "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
     "sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
     "sched_yield", "setfsgid", "setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid",
     "setresgid", "setresuid", "setreuid", "setrlimit", "setsid", "setuid", "set_tid_address", "sysinfo",
     "tgkill", "tkill", "uname", "vfork", "wait4", "waitid",
     // The runner puts a narrower filter of its own on its children.
     "seccomp"});

constexpr auto kLandlock = std::to_array<std::string_view>(
    {"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self"});

constexpr auto kSignalsAndTime = std::to_array<std::string_view>(
    {"alarm",           "clock_getres",   "clock_gettime",   "clock_nanosleep",  "getitimer",
     "gettimeofday",    "nanosleep",      "rt_sigaction",    "rt_sigpending",    "rt_sigprocmask",
     "rt_sigqueueinfo", "rt_sigreturn",   "rt_sigsuspend",   "rt_sigtimedwait",  "rt_tgsigqueueinfo",
     "setitimer",       "sigaltstack",    "signalfd",        "signalfd4",        "time",
     "times",           "timer_create",   "timer_delete",    "timer_getoverrun", "timer_gettime",
     "timer_settime",   "timerfd_create", "timerfd_gettime", "timerfd_settime"});

constexpr auto kTalking = std::to_array<std::string_view>(
    {// socket stands below with its families.
     "accept",     "accept4",         "bind",         "connect",   "getpeername",   "getsockname",
     "getsockopt", "listen",          "recvfrom",     "recvmmsg",  "recvmsg",       "sendmmsg",
     "sendmsg",    "sendto",          "setsockopt",   "shutdown",  "mq_getsetattr", "mq_notify",
     "mq_open",    "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl",        "msgget",
     "msgrcv",     "msgsnd",          "semctl",       "semget",    "semop",         "semtimedop"});

constexpr auto kAmd64 = std::to_array<std::string_view>({"arch_prctl"});

// Answered "not implemented", so that libraries fall back: glibc to clone (whose flags a filter can read;
// those of clone3 lie behind a pointer), event loops to epoll.
constexpr auto kAbsent =
    std::to_array<std::string_view>({"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"});

constexpr std::uint64_t kErrnoNoSys = 38;
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET (linux/sched.h).
constexpr std::uint64_t kCloneNamespaces = 0x7E020000;

struct Condition {
  unsigned index;
  std::uint64_t value;
};

Json allow(Names names) {
  return Json{{"names", names}, {"action", "SCMP_ACT_ALLOW"}};
}

// All of the conditions, compared in 64 bits: junk in the upper half of an int argument matches nothing.
Json allow_if_equal(std::string_view name, std::span<const Condition> conditions) {
  Json args = Json::array();
  for (const Condition& condition : conditions) {
    args.push_back({{"index", condition.index}, {"value", condition.value}, {"op", "SCMP_CMP_EQ"}});
  }
  Json rule = allow(Names(&name, 1));
  rule["args"] = std::move(args);
  return rule;
}

// Families by linux/socket.h. Of netlink only NETLINK_ROUTE, which getifaddrs(3) and getaddrinfo(3) ask.
void allow_sockets(Json& rules) {
  constexpr std::uint64_t kUnix = 1, kInet = 2, kInet6 = 10, kNetlink = 16, kNetlinkRoute = 0;
  for (const std::uint64_t family : {kUnix, kInet, kInet6}) {
    rules.push_back(allow_if_equal("socket", std::array{Condition{0, family}}));
  }
  rules.push_back(allow_if_equal("socket", std::array{Condition{0, kNetlink}, Condition{2, kNetlinkRoute}}));
  rules.push_back(allow_if_equal("socketpair", std::array{Condition{0, kUnix}}));
}

void allow_clone_without_namespaces(Json& rules) {
  constexpr std::string_view kName = "clone";
  Json rule = allow(Names(&kName, 1));
  rule["args"] = Json::array(
      {{{"index", 0}, {"value", kCloneNamespaces}, {"valueTwo", 0}, {"op", "SCMP_CMP_MASKED_EQ"}}});
  rules.push_back(std::move(rule));
}

// Asking for the personality, and the plain one: no address space without randomness.
void allow_personality(Json& rules) {
  constexpr std::uint64_t kPlain = 0, kQuery = 0xFFFFFFFF;
  for (const std::uint64_t persona : {kPlain, kQuery}) {
    rules.push_back(allow_if_equal("personality", std::array{Condition{0, persona}}));
  }
}

std::optional<std::string_view> find_architecture(std::string_view docker_word) {
  if (docker_word == "amd64") return "SCMP_ARCH_X86_64";
  if (docker_word == "arm64") return "SCMP_ARCH_AARCH64";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> make_seccomp_profile(std::string_view architecture) {
  const auto native = find_architecture(architecture);
  if (!native) return std::nullopt;
  Json rules = Json::array();
  for (const Names names : {Names(kFiles), Names(kWaiting), Names(kMemory), Names(kProcesses),
                            Names(kLandlock), Names(kSignalsAndTime), Names(kTalking)}) {
    rules.push_back(allow(names));
  }
  if (architecture == "amd64") rules.push_back(allow(kAmd64));
  allow_sockets(rules);
  allow_clone_without_namespaces(rules);
  allow_personality(rules);
  rules.push_back({{"names", kAbsent}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", kErrnoNoSys}});
  return dump_json({{"defaultAction", "SCMP_ACT_ERRNO"},
                    {"architectures", Json::array({*native})},
                    {"syscalls", std::move(rules)}});
}

}  // namespace mayfly::docker

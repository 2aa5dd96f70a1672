#include "seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace mayfly::runner {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeignNumbers = 0x40000000;  // x32 calls have this bit
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeignNumbers = 0x80000000;  // none
#else
#error "mayfly-runner: the seccomp table was judged for x86-64 and aarch64 only"
#endif

constexpr std::uint32_t kNewestJudged = 462;  // mseal, Linux 6.10
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

// Calls that fail whatever their arguments.
constexpr auto kRefused = std::to_array<std::uint32_t>({
    // namespaces and mounts
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_move_mount,
    SYS_open_tree,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    // other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_migrate_pages,
    // wide doors into the kernel
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_memfd_secret,
    // the machine
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS_modify_ldt,
#endif
});

// Calls that answer as if the kernel had none: C libraries then fall back (clone3 to clone, io_uring to
// epoll).
constexpr auto kAbsent =
    std::to_array<std::uint32_t>({SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register});

// Calls that are allowed only when argument `target` is 0: the caller itself.
struct OnlyMyself {
  std::uint32_t call;
  unsigned target;
};
constexpr auto kOnlyMyself = std::to_array<OnlyMyself>({{SYS_sched_setscheduler, 0},
                                                        {SYS_sched_setparam, 0},
                                                        {SYS_sched_setattr, 0},
                                                        {SYS_sched_setaffinity, 0}});

constexpr std::uint32_t kNamespaceFlags =
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
constexpr std::uint32_t kPriorityOfUser = PRIO_USER;
constexpr std::uint32_t kIoPriorityOfUser = 3;  // IOPRIO_WHO_USER, linux/ioprio.h
constexpr std::uint32_t kNetlinkRoute = 0;

constexpr std::uint32_t argument_low(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * index;
}
constexpr std::uint32_t argument_high(unsigned index) {
  return argument_low(index) + 4;
}

// The kernel reads int arguments as their low 32 bits, and so do these checks; only pointers are looked at
// whole.
class Assembler {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  // `action` at once when the comparison holds, on to the next instruction otherwise.
  void answer_if_equal(std::uint32_t value, std::uint32_t action) { answer_if(BPF_JEQ, value, action); }
  void answer_if_at_least(std::uint32_t value, std::uint32_t action) { answer_if(BPF_JGE, value, action); }
  void answer_if_any_bit(std::uint32_t bits, std::uint32_t action) { answer_if(BPF_JSET, bits, action); }
  void answer_unless_equal(std::uint32_t value, std::uint32_t action) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    answer(action);
  }
  // The instructions up to end_call run for this call alone. The number must be loaded.
  void begin_call(std::uint32_t number) {
    call_begin_ = program_.size();
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0));
  }
  void end_call() {
    answer(SECCOMP_RET_ALLOW);
    program_[call_begin_].jf = static_cast<std::uint8_t>(program_.size() - call_begin_ - 1);
  }
  std::vector<sock_filter> finish() { return std::move(program_); }

 private:
  void add(int code, std::uint32_t k) {
    program_.push_back(sock_filter{static_cast<std::uint16_t>(code), 0, 0, k});
  }
  void answer_if(int comparison, std::uint32_t value, std::uint32_t action) {
    program_.push_back(sock_filter{static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), 0, 1, value});
    answer(action);
  }

  std::vector<sock_filter> program_;
  std::size_t call_begin_ = 0;
};

void judge_architecture(Assembler& to) {
  to.load(offsetof(seccomp_data, arch));
  to.answer_unless_equal(kArchitecture, SECCOMP_RET_KILL_PROCESS);
  to.load(offsetof(seccomp_data, nr));
  to.answer_if_equal(0xffffffff, kUnknown);  // syscall(-1), a usual probe
  to.answer_if_at_least(kForeignNumbers, SECCOMP_RET_KILL_PROCESS);
  to.answer_if_at_least(kNewestJudged + 1, kUnknown);
}

// Unix, IPv4, IPv6 and route netlink. All other families (ALG, VSOCK, PACKET, …) are attack surface without a
// use here.
void judge_sockets(Assembler& to, std::uint32_t call) {
  to.begin_call(call);
  to.load(argument_low(0));
  for (const std::uint32_t family : {AF_UNIX, AF_INET, AF_INET6})
    to.answer_if_equal(family, SECCOMP_RET_ALLOW);
  to.answer_unless_equal(AF_NETLINK, kRefuse);
  to.load(argument_low(2));
  to.answer_unless_equal(kNetlinkRoute, kRefuse);
  to.end_call();
}

// setpriority and ioprio_set: (which, who, …). "All of a user" is the runner too, whoever the user is.
void judge_priority(Assembler& to, std::uint32_t call, std::uint32_t all_of_a_user) {
  to.begin_call(call);
  to.load(argument_low(0));
  to.answer_if_equal(all_of_a_user, kRefuse);
  to.load(argument_low(1));
  to.answer_unless_equal(0, kRefuse);
  to.end_call();
}

// prlimit64(pid, resource, new, old): reading others' limits is harmless, writing one ends the runner.
void judge_limits(Assembler& to) {
  to.begin_call(SYS_prlimit64);
  to.load(argument_low(0));
  to.answer_if_equal(0, SECCOMP_RET_ALLOW);
  to.load(argument_low(2));
  to.answer_unless_equal(0, kRefuse);
  to.load(argument_high(2));
  to.answer_unless_equal(0, kRefuse);
  to.end_call();
}

void judge_arguments(Assembler& to) {
  judge_sockets(to, SYS_socket);
  judge_sockets(to, SYS_socketpair);
  judge_limits(to);
  judge_priority(to, SYS_setpriority, kPriorityOfUser);
  judge_priority(to, SYS_ioprio_set, kIoPriorityOfUser);
  for (const auto& [call, target] : kOnlyMyself) {
    to.begin_call(call);
    to.load(argument_low(target));
    to.answer_unless_equal(0, kRefuse);
    to.end_call();
  }
  to.begin_call(SYS_clone);
  to.load(argument_low(0));
  to.answer_if_any_bit(kNamespaceFlags, kRefuse);
  to.end_call();
  to.begin_call(SYS_ioctl);  // typing into a terminal that is shared with somebody
  to.load(argument_low(1));
  to.answer_if_equal(TIOCSTI, kRefuse);
  to.answer_if_equal(TIOCLINUX, kRefuse);
  to.end_call();
}

}  // namespace

std::vector<sock_filter> make_task_filter() {
  Assembler to;
  judge_architecture(to);
  for (const std::uint32_t call : kAbsent) to.answer_if_equal(call, kUnknown);
  for (const std::uint32_t call : kRefused) to.answer_if_equal(call, kRefuse);
  judge_arguments(to);
  to.answer(SECCOMP_RET_ALLOW);
  return to.finish();
}

bool install_filter(std::vector<sock_filter>& program) {
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace mayfly::runner

// C06 and C09. For sandboxes only: what is let through acts (those of C06 with arguments that do no harm).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define CALL(name, ...) report(#name, syscall(SYS_##name, __VA_ARGS__))

static void try_kernel_doors(void) {
  static long page[512];
  CALL(clone3, NULL, 0);
  CALL(io_uring_setup, 1, NULL);
  CALL(io_uring_enter, -1, 0, 0, 0, NULL, 0);
  CALL(io_uring_register, -1, 0, NULL, 0);
  CALL(bpf, 0, NULL, 0);
  CALL(perf_event_open, NULL, 0, -1, -1, 0);
  CALL(userfaultfd, 0);
  CALL(keyctl, 0, -3, 0, 0, 0);
  CALL(add_key, "user", "probe", "x", 1, -2);
  CALL(request_key, "user", "probe", NULL, -2);
  CALL(memfd_secret, 0);
  CALL(fanotify_init, 0, O_RDONLY);
  CALL(name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0);
  CALL(open_by_handle_at, AT_FDCWD, NULL, O_RDONLY);
  CALL(mbind, page, sizeof page, 0, NULL, 0, 0);
  CALL(get_mempolicy, NULL, NULL, 0, NULL, 0);
  CALL(set_mempolicy, 0, NULL, 0);
  CALL(migrate_pages, 0, 0, NULL, NULL);
  CALL(move_pages, 0, 0, NULL, NULL, NULL, 0);
  report("ioctl-TIOCSTI", ioctl(0, TIOCSTI, "x"));
  report("ioctl-TIOCLINUX", ioctl(0, 0x541C, "x"));
  report("personality-no-randomize", syscall(SYS_personality, 0x0040000));
}

static void try_other_processes(void) {
  CALL(ptrace, 0, 0, 0, 0);
  CALL(process_vm_readv, getpid(), NULL, 0, NULL, 0, 0);
  CALL(process_vm_writev, getpid(), NULL, 0, NULL, 0, 0);
  CALL(process_madvise, -1, NULL, 0, 0, 0);
  CALL(kcmp, getpid(), getpid(), 0, 0, 0);
  CALL(pidfd_getfd, -1, 0, 0);
  CALL(rt_sigqueueinfo, getpid(), 0, NULL);
  CALL(rt_tgsigqueueinfo, getpid(), getpid(), 0, NULL);
}

static void try_machine(void) {
  CALL(init_module, NULL, 0, "");
  CALL(finit_module, -1, "", 0);
  CALL(delete_module, "probe", 0);
  CALL(kexec_load, 0, 0, NULL, 0);
#ifdef SYS_kexec_file_load
  CALL(kexec_file_load, -1, -1, 0, NULL, 0);
#endif
  CALL(reboot, 1, 2, 3, NULL);
  CALL(swapon, "/probe", 0);
  CALL(swapoff, "/probe");
  CALL(acct, "/probe");
  CALL(quotactl, 0, NULL, 0, NULL);
  CALL(quotactl_fd, -1, 0, 0, NULL);
  CALL(syslog, 10, NULL, 0);
  CALL(settimeofday, NULL, NULL);
  CALL(clock_settime, -1, NULL);
  CALL(clock_adjtime, -1, NULL);
  CALL(adjtimex, NULL);
  CALL(sethostname, "probe", -1);
  CALL(setdomainname, "probe", -1);
  CALL(vhangup, 0);
  CALL(lookup_dcookie, 0, NULL, 0);
#ifdef __x86_64__
  CALL(iopl, 3);
  CALL(ioperm, 0, 1, 1);
  CALL(modify_ldt, 0, NULL, 0);
  CALL(uselib, "/probe");
  CALL(ustat, 0, NULL);
  CALL(sysfs, 3, 0, 0);
#endif
  report("number-466", syscall(466));
  report("number-9999", syscall(9999));
}

static void try_socket(const char* name, int family, int type, int protocol) {
  const int fd = socket(family, type, protocol);
  report(name, fd);
  if (fd >= 0) close(fd);
}

static void try_sockets(void) {
  int pair[2];
  try_socket("socket-UNIX", AF_UNIX, SOCK_STREAM, 0);
  try_socket("socket-INET", AF_INET, SOCK_STREAM, 0);
  try_socket("socket-INET-raw", AF_INET, SOCK_RAW, 255);
  try_socket("socket-INET-raw-icmp", AF_INET, SOCK_RAW, 1);
  try_socket("socket-PACKET", AF_PACKET, SOCK_RAW, 0);
  try_socket("socket-ALG", AF_ALG, SOCK_SEQPACKET, 0);
  try_socket("socket-VSOCK", AF_VSOCK, SOCK_STREAM, 0);
  try_socket("socket-BLUETOOTH", AF_BLUETOOTH, SOCK_RAW, 1);
  try_socket("socket-CAN", AF_CAN, SOCK_RAW, 1);
  try_socket("socket-RDS", AF_RDS, SOCK_SEQPACKET, 0);
  try_socket("socket-TIPC", AF_TIPC, SOCK_RDM, 0);
  try_socket("socket-XDP", AF_XDP, SOCK_RAW, 0);
  try_socket("socket-KEY", AF_KEY, SOCK_RAW, 2);
  try_socket("socket-X25", AF_X25, SOCK_SEQPACKET, 0);
  try_socket("socket-APPLETALK", AF_APPLETALK, SOCK_DGRAM, 0);
  try_socket("socket-NFC", AF_NFC, SOCK_RAW, 0);
  try_socket("socket-NETLINK-route", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  try_socket("socket-NETLINK-netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
  try_socket("socket-NETLINK-audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
  try_socket("socket-NETLINK-uevent", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
  try_socket("socket-NETLINK-generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
  try_socket("socket-NETLINK-sock_diag", AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
  try_socket("socket-NETLINK-xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM);
  report("socketpair-UNIX", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  report("socketpair-TIPC", socketpair(AF_TIPC, SOCK_STREAM, 0, pair));
}

// A filter that refused everything would pass all of the above.
static void try_ordinary_calls(void) {
  CALL(getpid, 0);
  CALL(memfd_create, "probe", 0);
  CALL(pidfd_open, getpid(), 0);
  CALL(inotify_init1, 0);
  CALL(epoll_create1, 0);
  CALL(eventfd2, 0, 0);
  CALL(sched_yield, 0);
  CALL(personality, 0xffffffff);
  CALL(getpriority, 0, 0);
  CALL(setpriority, 0, 0, 1);
}

#ifdef __x86_64__
// The other two tables of call numbers that this kernel may have; a child is killed for a single call.
static void try_foreign_table(const char* name, void (*call)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    call();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s %s\n", name, WIFSIGNALED(status) ? "killed" : "survived");
}

static void call_i386_getpid(void) {
  long result = 20;
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
}

static void call_x32_getpid(void) {
  long result = 0x40000000 + SYS_getpid;
  __asm__ volatile("syscall" : "+a"(result) : : "memory", "rcx", "r11");
}
#endif

int probe_syscalls(int argc, char** argv) {
  (void)argc, (void)argv;
  try_kernel_doors();
  try_other_processes();
  try_machine();
  try_sockets();
  try_ordinary_calls();
#ifdef __x86_64__
  try_foreign_table("i386-getpid", call_i386_getpid);
  try_foreign_table("x32-getpid", call_x32_getpid);
#endif
  return 0;
}

static void try_namespaces(void) {
  static const struct {
    const char* name;
    unsigned long flag;
  } kNamespaces[] = {{"mnt", CLONE_NEWNS},   {"uts", CLONE_NEWUTS}, {"ipc", CLONE_NEWIPC},
                     {"pid", CLONE_NEWPID},  {"net", CLONE_NEWNET}, {"cgroup", CLONE_NEWCGROUP},
                     {"user", CLONE_NEWUSER}};
  char name[64];
  for (size_t i = 0; i < sizeof kNamespaces / sizeof *kNamespaces; ++i) {
    snprintf(name, sizeof name, "unshare-%s", kNamespaces[i].name);
    report(name, syscall(SYS_unshare, kNamespaces[i].flag));
    const long child = syscall(SYS_clone, kNamespaces[i].flag | SIGCHLD, 0, NULL, NULL, 0);
    if (child == 0) _exit(0);
    snprintf(name, sizeof name, "clone-%s", kNamespaces[i].name);
    report(name, child);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", kNamespaces[i].name);
    snprintf(name, sizeof name, "setns-%s", kNamespaces[i].name);
    report(name, setns(open(path, O_RDONLY), 0));
  }
  report("unshare-time", syscall(SYS_unshare, 0x80));
}

static void try_mounts(void) {
  report("mount-tmpfs", mount("x", "/tmp", "tmpfs", 0, ""));
  report("mount-proc", mount("proc", "/tmp", "proc", 0, ""));
  report("mount-bind", mount("/", "/tmp", "", MS_BIND, ""));
  report("remount-root", mount("", "/", "", MS_REMOUNT | MS_BIND, ""));
  report("remount-workspace", mount("", "/workspace", "", MS_REMOUNT, "size=1g"));
  report("umount", umount2("/tmp", MNT_DETACH));
  report("pivot_root", syscall(SYS_pivot_root, "/tmp", "/tmp"));
  report("chroot", chroot("/tmp"));
  CALL(fsopen, "tmpfs", 0);
  CALL(fsconfig, -1, 0, NULL, NULL, 0);
  CALL(fsmount, -1, 0, 0);
  CALL(fspick, AT_FDCWD, "/", 0);
  CALL(move_mount, -1, "", -1, "", 0);
  CALL(open_tree, AT_FDCWD, "/", 1);
  CALL(mount_setattr, AT_FDCWD, "/", 0, NULL, 0);
  report("mknod-char", mknod("/tmp/char", S_IFCHR | 0666, makedev(1, 1)));
  report("mknod-block", mknod("/tmp/block", S_IFBLK | 0666, makedev(8, 0)));
}

static void try_devices(void) {
  static const char* kDevices[] = {"mem",   "kmem",      "port",           "kmsg",         "kvm",
                                   "fuse",  "net/tun",   "loop0",          "loop-control", "sda",
                                   "vda",   "nvme0",     "mapper/control", "uinput",       "vhost-net",
                                   "vsock", "cpu/0/msr", "userfaultfd",    "snapshot",     "bus/usb/001/001"};
  char path[64];
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; ++i) {
    snprintf(path, sizeof path, "/dev/%s", kDevices[i]);
    report(path, open(path, O_RDONLY | O_NONBLOCK));
  }
  report("/dev/null", open("/dev/null", O_RDWR));
}

int probe_namespaces(int argc, char** argv) {
  (void)argc, (void)argv;
  try_namespaces();
  try_mounts();
  try_devices();
  return 0;
}

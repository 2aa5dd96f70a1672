// C11 and C19: one process against another of the same user.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe.h"

static void try_reading(const char* pid, const char* name) {
  char path[128], label[128], byte;
  snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
  snprintf(label, sizeof label, "read %s", name);
  const int fd = open(path, O_RDONLY | O_NONBLOCK);
  report(label, fd);
  if (fd < 0) return;
  if (read(fd, &byte, 1) < 0) errno = 0;
  close(fd);
}

// To open it is not enough: some check at the write.
static void try_writing(const char* pid, const char* name, const char* text) {
  char path[128], label[128];
  snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
  snprintf(label, sizeof label, "write %s", name);
  const int fd = open(path, O_WRONLY | O_NONBLOCK);
  report(label, fd < 0 ? fd : write(fd, text, strlen(text)));
  if (fd >= 0) close(fd);
}

static void try_links(const char* pid) {
  static const char* kLinks[] = {"root",    "cwd",  "exe",  "ns/net", "ns/mnt",
                                 "ns/user", "fd/0", "fd/1", "fd/100", "fd/101"};
  char path[128], label[128], target[256];
  for (size_t i = 0; i < sizeof kLinks / sizeof *kLinks; ++i) {
    snprintf(path, sizeof path, "/proc/%s/%s", pid, kLinks[i]);
    snprintf(label, sizeof label, "readlink %s", kLinks[i]);
    report(label, readlink(path, target, sizeof target));
  }
}

static void try_calls(pid_t pid) {
  char byte = 0;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  report("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0));
  report("process_vm_writev", process_vm_writev(pid, &here, 1, &there, 1, 0));
  report("ptrace-attach", ptrace(PTRACE_ATTACH, pid, 0, 0));
  report("ptrace-seize", ptrace(PTRACE_SEIZE, pid, 0, 0));
  const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  for (int fd = 0; fd < 3; ++fd) report("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, fd, 0));
  report("pidfd_getfd-100", syscall(SYS_pidfd_getfd, pidfd, 100, 0));
  report("kcmp", syscall(SYS_kcmp, pid, getpid(), 2, 1, 1));
  report("process_madvise", syscall(SYS_process_madvise, pidfd, &here, 1, 21, 0));
  report("setns-by-pidfd", setns(pidfd, 0x20000000));
}

int probe_process(int argc, char** argv) {
  if (argc != 1) return 64;
  const char* pid = argv[0];
  static const char* kReadable[] = {"fd",        "fd/0",   "fd/1",       "fd/2",        "fd/100",
                                    "fd/101",    "fd/102", "fd/103",     "fdinfo/100",  "mem",
                                    "environ",   "maps",   "smaps",      "auxv",        "pagemap",
                                    "map_files", "io",     "syscall",    "stack",       "root/",
                                    "root/etc",  "cwd/",   "task/1/mem", "task/1/fd/0", "task/1/environ"};
  for (size_t i = 0; i < sizeof kReadable / sizeof *kReadable; ++i) try_reading(pid, kReadable[i]);
  static const char* kWritable[] = {"fd/0",   "fd/1",   "fd/2", "fd/100",
                                    "fd/101", "fd/102", "mem",  "task/1/mem"};
  for (size_t i = 0; i < sizeof kWritable / sizeof *kWritable; ++i) try_writing(pid, kWritable[i], "x");
  try_writing(pid, "oom_score_adj", "1000");
  try_writing(pid, "oom_adj", "15");
  try_writing(pid, "clear_refs", "1");
  try_writing(pid, "coredump_filter", "0xff");
  try_writing(pid, "comm", "evil");
  try_writing(pid, "timerslack_ns", "1");
  try_writing(pid, "autogroup", "19");
  try_links(pid);
  try_calls((pid_t)atoi(pid));
  return 0;
}

static void try_limits(pid_t pid) {
  const struct rlimit64 none = {0, 0};
  static const struct {
    const char* name;
    int resource;
  } kLimits[] = {{"prlimit-nofile", RLIMIT_NOFILE}, {"prlimit-cpu", RLIMIT_CPU},
                 {"prlimit-as", RLIMIT_AS},         {"prlimit-stack", RLIMIT_STACK},
                 {"prlimit-fsize", RLIMIT_FSIZE},   {"prlimit-data", RLIMIT_DATA}};
  for (size_t i = 0; i < sizeof kLimits / sizeof *kLimits; ++i) {
    report(kLimits[i].name, syscall(SYS_prlimit64, pid, kLimits[i].resource, &none, NULL));
  }
}

static void try_schedules(pid_t pid) {
  const struct sched_param idle = {0};
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  // struct sched_attr: linux/sched/types.h cannot stand beside sched.h.
  struct {
    unsigned size, policy;
    unsigned long flags, rest[5];
  } attributes = {.size = 48, .policy = SCHED_IDLE};
  report("setpriority-process", setpriority(PRIO_PROCESS, (id_t)pid, 19));
  report("setpriority-group", setpriority(PRIO_PGRP, (id_t)pid, 19));
  report("setpriority-user", setpriority(PRIO_USER, getuid(), 19));
  report("setpriority-own-user", setpriority(PRIO_USER, 0, 19));
  report("ioprio_set-process", syscall(SYS_ioprio_set, 1, pid, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)));
  report("ioprio_set-group", syscall(SYS_ioprio_set, 2, pid, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)));
  report("ioprio_set-user", syscall(SYS_ioprio_set, 3, getuid(), IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)));
  report("sched_setscheduler", sched_setscheduler(pid, SCHED_IDLE, &idle));
  report("sched_setparam", sched_setparam(pid, &idle));
  report("sched_setaffinity", sched_setaffinity(pid, sizeof first, &first));
  report("sched_setattr", syscall(SYS_sched_setattr, pid, &attributes, 0));
}

// A stop that seems to come from outside of the sandbox: sender 0.
static siginfo_t forge(int code) {
  siginfo_t forged;
  memset(&forged, 0, sizeof forged);
  forged.si_signo = SIGTERM;
  forged.si_code = code;
  return forged;
}

static void try_signals(pid_t pid) {
  siginfo_t queued = forge(SI_QUEUE), as_user = forge(SI_USER), as_kernel = forge(SI_KERNEL);
  const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  report("rt_sigqueueinfo-queue", syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &queued));
  report("rt_sigqueueinfo-user", syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &as_user));
  report("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGTERM, &queued));
  report("pidfd_send_signal-user", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, &as_user, 0));
  report("pidfd_send_signal-kernel", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, &as_kernel, 0));
  // These two may be sent; the runner must not take them for its engine's.
  report("pidfd_send_signal-queue", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, &queued, 0));
  report("tgkill", syscall(SYS_tgkill, pid, pid, SIGTERM));
}

int probe_meddle(int argc, char** argv) {
  if (argc != 1) return 64;
  const pid_t pid = (pid_t)atoi(argv[0]);
  try_limits(pid);
  try_schedules(pid);
  try_signals(pid);
  return 0;
}

int probe_identity(int argc, char** argv) {
  (void)argc, (void)argv;
  char line[256];
  printf("uid %d %d gid %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid());
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "CapEff:", 7) == 0 || strncmp(line, "CapPrm:", 7) == 0) fputs(line, stdout);
  }
  return 0;
}

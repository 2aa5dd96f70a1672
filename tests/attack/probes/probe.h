// What a hostile task may try, one probe a subcommand. Each attempt prints one line: its name, and "ok" or
// the errno. Linked statically, and sent to the task as an input.
#pragma once

// Prints "name ok" or "name EPERM"; a descriptor in `result` stays open.
void report(const char* name, long result);

int probe_syscalls(int argc, char** argv);    // C06: calls that a task must not have, and some that it must
int probe_namespaces(int argc, char** argv);  // C09: namespaces, mounts, device nodes
int probe_process(int argc, char** argv);     // C11: what /proc/PID and the process calls give away of PID
int probe_meddle(int argc, char** argv);      // C19: limits, priorities, schedules and forged signals for PID
int probe_files(int argc, char** argv);       // C08: read|write PATH...: bytes, or the errno
int probe_writable(int argc, char** argv);    // R04: every directory and file below PATH that can be written
int probe_network(int argc, char** argv);     // N01, N02: addresses, raw sockets, an abstract socket's NAME
int probe_forks(int argc, char** argv);       // R01: processes until there are no more; then "bomb" goes on
int probe_threads(int argc, char** argv);     // R01
int probe_ipc(int argc, char** argv);         // R05: message queues, semaphores, shared memory
int probe_hoard(int argc, char** argv);       // R05: shared memory until the kernel ends it
int probe_socket(int argc, char** argv);      // P03: a socket at PATH
int probe_identity(int argc, char** argv);    // C07: user ids and effective capabilities

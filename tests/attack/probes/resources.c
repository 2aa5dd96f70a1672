// C08, R01, R04, R05, N01, N02: files, memory, processes and the network.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

static void try_file(const char* path, int flags) {
  char buffer[4096];
  const int fd = open(path, flags | O_NONBLOCK);
  const ssize_t got = fd < 0 || flags != O_RDONLY ? fd : read(fd, buffer, sizeof buffer);
  if (got > 0 && flags == O_RDONLY) {
    printf("%s %zd\n", path, got);
  } else {
    report(path, got);
  }
  if (fd >= 0) close(fd);
}

int probe_files(int argc, char** argv) {
  if (argc < 2) return 64;
  const int flags = strcmp(argv[0], "write") == 0 ? O_WRONLY : O_RDONLY;
  for (int i = 1; i < argc; ++i) try_file(argv[i], flags);
  return 0;
}

static int try_writing_at(const char* path, const struct stat* status, int kind, struct FTW* at) {
  (void)at;
  char name[4200];
  if (kind == FTW_D) {
    snprintf(name, sizeof name, "%s/.probe", path);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    const int made = fd >= 0 ? 0 : mkdir(name, 0700);
    if (fd >= 0 || made == 0) printf("directory %s\n", path);
    if (fd >= 0) close(fd);
    remove(name);
  } else if (kind == FTW_F && (S_ISREG(status->st_mode) || S_ISBLK(status->st_mode))) {
    const int fd = open(path, O_WRONLY | O_NONBLOCK);
    if (fd >= 0) printf("file %s\n", path);
    if (fd >= 0) close(fd);
  }
  return 0;
}

// Across mounts. Of /proc the processes are left out: their files keep nothing.
int probe_writable(int argc, char** argv) {
  enum { kDescriptors = 32 };
  for (int i = 0; i < argc; ++i) nftw(argv[i], try_writing_at, kDescriptors, FTW_PHYS);
  puts("walked");
  return 0;
}

static void try_address(const char* name, int type, const char* address, int port) {
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  const int is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
  if (!is_v4) inet_pton(AF_INET6, address, &v6.sin6_addr);
  const int fd = socket(is_v4 ? AF_INET : AF_INET6, type, 0);
  if (fd >= 0) {
    report(name, is_v4 ? connect(fd, (const struct sockaddr*)&v4, sizeof v4)
                       : connect(fd, (const struct sockaddr*)&v6, sizeof v6));
  } else {
    report(name, fd);
  }
  if (fd >= 0) close(fd);
}

static void try_ping(const char* address) {
  static const unsigned char kEcho[8] = {8, 0, 0xf7, 0xff};
  struct sockaddr_in to = {.sin_family = AF_INET};
  inet_pton(AF_INET, address, &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
  report("icmp", fd < 0 ? fd : sendto(fd, kEcho, sizeof kEcho, 0, (const struct sockaddr*)&to, sizeof to));
}

static void try_abstract(const char* name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  const size_t length = strnlen(name, sizeof to.sun_path - 2);
  memcpy(to.sun_path + 1, name, length);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  report("abstract", connect(fd, (const struct sockaddr*)&to,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
}

// ABSTRACT-NAME and addresses of the host, of which TCP port 22 and UDP port 53 are tried.
int probe_network(int argc, char** argv) {
  char name[128];
  try_address("tcp 1.1.1.1", SOCK_STREAM, "1.1.1.1", 443);
  try_address("udp 8.8.8.8", SOCK_DGRAM, "8.8.8.8", 53);
  try_address("tcp 169.254.169.254", SOCK_STREAM, "169.254.169.254", 80);
  try_address("tcp 2606:4700:4700::1111", SOCK_STREAM, "2606:4700:4700::1111", 443);
  for (int i = 1; i < argc; ++i) {
    snprintf(name, sizeof name, "tcp host %s", argv[i]);
    try_address(name, SOCK_STREAM, argv[i], 22);
    snprintf(name, sizeof name, "udp host %s", argv[i]);
    try_address(name, SOCK_DGRAM, argv[i], 53);
  }
  try_ping("1.1.1.1");
  if (argc > 0) try_abstract(argv[0]);
  return 0;
}

// Every process forks for ever; the first says when the limit is met.
static void explode(void) {
  const pid_t first = getpid();
  for (int said = 0;;) {
    if (fork() >= 0 || errno != EAGAIN || said || getpid() != first) continue;
    said = 1;
    report("fork", -1);
  }
}

int probe_forks(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "bomb") == 0) explode();
  int children = 0;
  for (;;) {
    const pid_t child = fork();
    if (child == 0) pause();
    if (child < 0) break;
    ++children;
  }
  report("fork", -1);
  printf("children %d\n", children);
  return 0;
}

static void* wait_for_ever(void* nothing) {
  pause();
  return nothing;
}

int probe_threads(int argc, char** argv) {
  (void)argc, (void)argv;
  enum { kMost = 100000 };
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  int threads = 0, error = 0;
  pthread_t thread;
  while (error == 0 && threads < kMost) {
    error = pthread_create(&thread, &small, wait_for_ever, NULL);
    if (error == 0) ++threads;
  }
  errno = error;
  report("pthread_create", error == 0 ? 0 : -1);
  printf("threads %d\n", threads);
  fflush(stdout);
  _exit(0);
}

// KEY: objects of that key that outlive the process.
int probe_ipc(int argc, char** argv) {
  if (argc != 1) return 64;
  const key_t key = (key_t)strtol(argv[0], NULL, 0);
  report("mq_open", mq_open("/probe", O_CREAT | O_RDWR, 0600, NULL));
  report("mq-file", open("/dev/mqueue/probe", O_CREAT | O_RDWR, 0600));
  report("shm-there", shmget(key, 0, 0));
  report("msg-there", msgget(key, 0));
  report("sem-there", semget(key, 0, 0));
  const int id = shmget(key, 4 << 20, IPC_CREAT | 0666);
  report("shm-made", id);
  if (id >= 0) memset(shmat(id, NULL, 0), 1, 4 << 20);
  report("msg-made", msgget(key, IPC_CREAT | 0666));
  report("sem-made", semget(key, 8, IPC_CREAT | 0666));
  return 0;
}

// Segments that nobody maps any more still count: memory that dies with the namespace only.
int probe_hoard(int argc, char** argv) {
  (void)argc, (void)argv;
  enum { kPiece = 1 << 20 };
  for (int made = 1;; ++made) {
    const int id = shmget(IPC_PRIVATE, kPiece, IPC_CREAT | 0600);
    if (id < 0) break;
    char* memory = shmat(id, NULL, 0);
    if (memory == (char*)-1) break;
    memset(memory, 1, kPiece);
    shmdt(memory);
    printf("%d\n", made);
    fflush(stdout);
  }
  report("hoard", -1);
  return 0;
}

// A socket's name at PATH that stays when its process has ended.
int probe_socket(int argc, char** argv) {
  if (argc != 1) return 64;
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  strncpy(to.sun_path, argv[0], sizeof to.sun_path - 1);
  report("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr*)&to, sizeof to));
  return 0;
}

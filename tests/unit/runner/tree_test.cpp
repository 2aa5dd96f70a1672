// The tree of processes: how it is read, and that all of it is reached.
#include "runtime-image/runner/tree.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

using namespace mayfly::runner;

TEST_CASE("a stat line is read past any name") {
  const auto stat =
      parse_proc_stat("42 (a) b) (c) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99 0 0\n");
  REQUIRE(stat);
  CHECK(stat->pid == 42);
  CHECK(stat->parent == 7);
  CHECK(stat->cpu_ticks == 100);
  CHECK_FALSE(parse_proc_stat("42 (broken"));
  CHECK_FALSE(parse_proc_stat("42 (short) S 7"));
  CHECK_FALSE(parse_proc_stat(""));
}

TEST_CASE("descendants are children of all depths and nobody else") {
  const std::vector<ProcStat> all{
      {.pid = 1, .parent = 0, .cpu_ticks = 0},   {.pid = 10, .parent = 1, .cpu_ticks = 0},
      {.pid = 11, .parent = 10, .cpu_ticks = 0}, {.pid = 12, .parent = 11, .cpu_ticks = 0},
      {.pid = 20, .parent = 1, .cpu_ticks = 0},  {.pid = 21, .parent = 20, .cpu_ticks = 0}};
  std::set<pid_t> found;
  for (const auto& stat : descendants(all, 10)) found.insert(stat.pid);
  CHECK(found == std::set<pid_t>{11, 12});
  CHECK(descendants(all, 99).empty());
}

TEST_CASE("R09 a signal reaches children and grandchildren in other sessions and all are reaped") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      ::setsid();
      if (::fork() == 0) ::write(ready[1], "x", 1);
    }
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  const Tree tree;
  std::optional<int> status;
  bool none_left = false;
  while (!none_left) {
    tree.signal_all(SIGKILL);
    const Reaped reaped = tree.reap(child);
    if (reaped.main_status) status = reaped.main_status;
    none_left = reaped.none_left;
  }
  REQUIRE(status);
  CHECK(WTERMSIG(*status) == SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L);
}

// The processes of the task: everything in the pid namespace but us when we are PID 1, else everything that
// descends from us (orphans come to us, since we are a subreaper).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mayfly::runner {

// One line of /proc/PID/stat, as far as it is needed. CPU includes children that were waited for.
struct ProcStat {
  pid_t pid = 0, parent = 0;
  std::uint64_t cpu_ticks = 0;
};
std::optional<ProcStat> parse_proc_stat(std::string_view text);
// Those of `all` that descend from `ancestor`.
std::vector<ProcStat> descendants(std::vector<ProcStat> all, pid_t ancestor);

struct Reaped {
  std::optional<int> main_status;  // as wait(2) gives it
  bool none_left = false;          // no child is left, living or dead
};

class Tree {
 public:
  Tree();
  bool is_init() const { return self_ == 1; }
  // To everything. As PID 1 one kill(-1) reaches all at once, forks in flight included; otherwise a fork may
  // slip through a walk of /proc, so a kill is repeated until nothing is left.
  void signal_all(int signal) const;
  // Takes every child that has ended.
  Reaped reap(pid_t main) const;
  // User and system time of all that lived so far, without our own.
  std::uint64_t cpu_ms() const;

 private:
  std::vector<ProcStat> members() const;

  pid_t self_;
};

}  // namespace mayfly::runner

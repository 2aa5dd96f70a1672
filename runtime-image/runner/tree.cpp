#include "tree.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "small_file.hpp"

namespace mayfly::runner {
namespace {

std::vector<ProcStat> all_processes() {
  std::vector<ProcStat> found;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    if (!find_number(entry->d_name)) continue;
    const auto text = read_small_file("/proc/" + std::string(entry->d_name) + "/stat");
    if (!text) continue;  // gone meanwhile
    if (const auto stat = parse_proc_stat(*text)) found.push_back(*stat);
  }
  ::closedir(proc);
  return found;
}

std::uint64_t milliseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 + static_cast<std::uint64_t>(time.tv_usec) / 1000;
}

}  // namespace

// proc(5): pid (comm) state ppid … with comm holding anything, parentheses included; utime is field 14,
// cstime 17.
std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  constexpr int kParent = 2, kFirstTime = 12, kLastTime = 15;  // counted from the state, which is 1
  ProcStat stat;
  const auto pid = find_number(text);
  const std::size_t name_end = text.rfind(')');
  if (!pid || name_end == std::string_view::npos) return std::nullopt;
  stat.pid = static_cast<pid_t>(*pid);
  text.remove_prefix(name_end + 1);
  for (int field = 1; field <= kLastTime; ++field) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    if (field == kParent) stat.parent = static_cast<pid_t>(find_number(word).value_or(0));
    if (field >= kFirstTime) stat.cpu_ticks += find_number(word).value_or(0);
    text.remove_prefix(word.size());
  }
  return stat;
}

std::vector<ProcStat> descendants(std::vector<ProcStat> all, pid_t ancestor) {
  std::vector<ProcStat> found;
  std::vector<pid_t> parents{ancestor};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto others = std::stable_partition(all.begin(), all.end(), [&](const ProcStat& stat) {
      return stat.parent != parent || stat.pid == ancestor;
    });
    for (auto child = others; child != all.end(); ++child) {
      parents.push_back(child->pid);
      found.push_back(*child);
    }
    all.erase(others, all.end());
  }
  return found;
}

Tree::Tree() : self_(::getpid()) {}

std::vector<ProcStat> Tree::members() const {
  std::vector<ProcStat> all = all_processes();
  if (!is_init()) return descendants(std::move(all), self_);
  std::erase_if(all, [](const ProcStat& stat) { return stat.pid == 1; });
  return all;
}

void Tree::signal_all(int signal) const {
  if (is_init()) {
    ::kill(-1, signal);
    return;
  }
  for (const ProcStat& member : members()) ::kill(member.pid, signal);
}

Reaped Tree::reap(pid_t main) const {
  Reaped reaped;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | __WALL);
    if (pid < 0 && errno == EINTR) continue;
    reaped.none_left = pid < 0 && errno == ECHILD;
    if (pid <= 0) return reaped;
    if (pid == main) reaped.main_status = status;
  }
}

std::uint64_t Tree::cpu_ms() const {
  rusage dead{};
  ::getrusage(RUSAGE_CHILDREN, &dead);
  std::uint64_t ticks = 0;
  for (const ProcStat& member : members()) ticks += member.cpu_ticks;
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return milliseconds(dead.ru_utime) + milliseconds(dead.ru_stime) + ticks * 1000 / per_second;
}

}  // namespace mayfly::runner

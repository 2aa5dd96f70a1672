#include "launch.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "trampoline.hpp"

namespace mayfly::runner {
namespace {

// Four times the default. Not more: all sandboxes of a host share one uid, and when its pipes pass
// fs.pipe-user-pages-soft (64 MiB), the kernel makes every further pipe of the uid two pages small.
constexpr int kTaskPipeBytes = 256 * 1024;

struct Pipe {
  UniqueFd read, write;
};

// What the child is given, in the order of the numbers it gets: 0, 1, 2, kPlanFd, kStatusFd.
struct ChildEnds {
  UniqueFd in, out, err, plan, status;
};

Fault fault_of(const std::string& what, int error) {
  // The task's own pids limit counts the trampoline too.
  const Reason cause = error == EAGAIN ? Reason::pids_limit : Reason::internal;
  return {cause, what + ": " + std::generic_category().message(error)};
}

bool make_pipe(Pipe& made) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  made.read = raise_fd(UniqueFd(ends[0]));
  made.write = raise_fd(UniqueFd(ends[1]));
  return made.read && made.write;
}

bool make_non_blocking(const UniqueFd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  return flags >= 0 && ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::lseek(fd, 0, SEEK_SET) == 0;
}

UniqueFd make_plan(const channel::BindSpec& spec) {
  UniqueFd plan = raise_fd(UniqueFd(::memfd_create("mayfly-plan", MFD_CLOEXEC)));
  if (!plan || !write_whole(plan.get(), channel::dump_bind_spec(spec))) return UniqueFd();
  return plan;
}

// An empty input: /dev/null, or where an image has none a pipe that nobody writes to.
UniqueFd make_empty_input() {
  UniqueFd null = raise_fd(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (null) return null;
  Pipe dead;
  make_pipe(dead);
  return std::move(dead.read);
}

bool make_output(UniqueFd& ours, UniqueFd& theirs) {
  Pipe pipe;
  if (!make_pipe(pipe) || !make_non_blocking(pipe.read)) return false;
  ours = std::move(pipe.read);
  theirs = std::move(pipe.write);
  return true;
}

bool make_ends(const channel::BindSpec& spec, Launched& ours, ChildEnds& theirs) {
  if (!make_output(ours.out, theirs.out) || !make_output(ours.err, theirs.err)) return false;
  if (!make_output(ours.status, theirs.status)) return false;
  ::fcntl(ours.out.get(), F_SETPIPE_SZ, kTaskPipeBytes);  // may be refused: it stays at the default then
  ::fcntl(ours.err.get(), F_SETPIPE_SZ, kTaskPipeBytes);
  theirs.plan = make_plan(spec);
  if (!theirs.plan) return false;
  if (!spec.has_stdin) {
    theirs.in = make_empty_input();
    return static_cast<bool>(theirs.in);
  }
  Pipe pipe;
  if (!make_pipe(pipe) || !make_non_blocking(pipe.write)) return false;
  theirs.in = std::move(pipe.read);
  ours.in = std::move(pipe.write);
  return true;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become_trampoline(const ChildEnds& ends, int exe) {
  const std::array<int, 5> given{ends.in.get(), ends.out.get(), ends.err.get(), ends.plan.get(),
                                 ends.status.get()};
  for (int to = 0; to < static_cast<int>(given.size()); ++to) {
    if (::dup2(given[static_cast<std::size_t>(to)], to) != to) ::_exit(1);
  }
  char name[] = "mayfly-runner";
  char argument[] = "exec-child";
  char* const argv[] = {name, argument, nullptr};
  char* const envp[] = {nullptr};
  ::syscall(SYS_execveat, exe, "", argv, envp, AT_EMPTY_PATH);
  const LaunchFailure failure{LaunchStage::plan, errno};
  [[maybe_unused]] const ssize_t told = ::write(kStatusFd, &failure, sizeof failure);
  ::_exit(1);
}

}  // namespace

tl::expected<Launched, Fault> launch(const channel::BindSpec& spec, int exe) {
  Launched ours;
  ChildEnds theirs;
  if (!make_ends(spec, ours, theirs)) return tl::unexpected(fault_of("pipes for the process", errno));
  ours.pid = ::fork();
  if (ours.pid < 0) return tl::unexpected(fault_of("fork", errno));
  if (ours.pid == 0) become_trampoline(theirs, exe);
  return ours;
}

std::optional<LaunchOutcome> read_launch_status(int status) {
  LaunchFailure failure;
  const ssize_t got = ::read(status, &failure, sizeof failure);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got == static_cast<ssize_t>(sizeof failure)) return LaunchOutcome{.failure = failure};
  return LaunchOutcome{};
}

}  // namespace mayfly::runner

#include "trampoline.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "launch_failure.hpp"
#include "seccomp_filter.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {
namespace {

constexpr std::string_view kPathWithoutPath = "/bin:/usr/bin";  // confstr(_CS_PATH), as execvp does
constexpr std::string_view kFirstToDie = "1000";
constexpr int kCannotRun = 125;  // seen by the runner alone, which believes the status pipe

[[noreturn]] void give_up(LaunchStage stage, int error) {
  const LaunchFailure failure{stage, error};
  [[maybe_unused]] const ssize_t told = ::write(kStatusFd, &failure, sizeof failure);
  ::_exit(kCannotRun);
}

std::string read_plan() {
  std::string text;
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(kPlanFd, buffer, sizeof buffer);
    if (got < 0) give_up(LaunchStage::plan, errno);
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(kPlanFd);
  return text;
}

// What the runner changed for itself and exec would hand on.
void reset_signals() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void become_first_to_die() {
  // Without /proc, or where the engine forbids it, the task and the runner die in the kernel's own order.
  const UniqueFd score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!score) return;
  [[maybe_unused]] const ssize_t written = ::write(score.get(), kFirstToDie.data(), kFirstToDie.size());
}

void set_limit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit limit{value, value};
  if (::setrlimit(resource, &limit) != 0) give_up(LaunchStage::limits, errno);
}

void set_limits(const channel::BindSpec& spec) {
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_NOFILE, spec.open_files);
  if (spec.file_size > 0) set_limit(RLIMIT_FSIZE, spec.file_size);
}

void install_task_filter() {
  auto program = make_task_filter();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0) give_up(LaunchStage::filter, errno);
  if (!install_filter(program)) give_up(LaunchStage::filter, errno);
}

// A file that is there and yet "not found" names an interpreter (or a dynamic loader) that is not.
LaunchFailure try_execute(const std::string& file, char* const* argv, char* const* envp) {
  ::execve(file.c_str(), argv, envp);
  const int error = errno;
  if (error == ENOENT && ::access(file.c_str(), F_OK) == 0) return {LaunchStage::interpreter, error};
  return {LaunchStage::execute, error};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment(const channel::BindSpec& spec) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : spec.env) texts.emplace_back(name).append("=").append(value);
  return texts;
}

[[noreturn]] void execute(channel::BindSpec& spec) {
  const auto path = spec.env.find("PATH");
  const auto files =
      candidates(spec.argv.front(), path == spec.env.end() ? std::string(kPathWithoutPath) : path->second);
  auto variables = environment(spec);
  const auto argv = pointers(spec.argv);
  const auto envp = pointers(variables);
  install_task_filter();
  LaunchFailure worst{LaunchStage::execute, ENOENT};
  for (const std::string& file : files) {
    const LaunchFailure failure = try_execute(file, argv.data(), envp.data());
    const bool absent =
        failure.stage == LaunchStage::execute && (failure.error == ENOENT || failure.error == ENOTDIR);
    if (!absent) worst = failure;
    if (!absent && failure.error != EACCES) break;
  }
  give_up(worst.stage, worst.error);
}

}  // namespace

std::vector<std::string> candidates(const std::string& program, const std::string& path) {
  if (program.empty()) return {};
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> files;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin);
    if (!file.empty()) file.push_back('/');
    files.push_back(file.append(program));
    begin = end + 1;
  }
  return files;
}

int run_trampoline() {
  ::setsid();
  reset_signals();
  auto spec = channel::parse_bind_spec(read_plan());
  if (!spec || spec->argv.empty()) give_up(LaunchStage::plan, EINVAL);
  ::fcntl(kStatusFd, F_SETFD, FD_CLOEXEC);
  become_first_to_die();
  set_limits(*spec);
  if (::chdir(spec->working_dir.c_str()) != 0) give_up(LaunchStage::directory, errno);
  execute(*spec);
}

}  // namespace mayfly::runner

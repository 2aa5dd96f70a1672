// mayfly-runner: PID 1 of every sandbox (no arguments), and the trampoline between it and the task's program.
#include <signal.h>
#include <sys/signalfd.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "exit_codes.hpp"
#include "harden.hpp"
#include "runner.hpp"
#include "trampoline.hpp"

namespace {

using namespace mayfly::runner;

UniqueFd take_signals() {
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, SIGCHLD);
  ::sigaddset(&ours, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &ours, nullptr);
  return raise_fd(UniqueFd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)));
}

// Our own binary, for the trampoline: by /proc, or by name where there is none.
UniqueFd open_own_binary(const char* name) {
  UniqueFd exe = raise_fd(UniqueFd(::open("/proc/self/exe", O_PATH | O_CLOEXEC)));
  return exe ? std::move(exe) : raise_fd(UniqueFd(::open(name, O_PATH | O_CLOEXEC)));
}

int serve(const char* name, const Places& places) {
  // The carrier's diagnostics would be task output to a reader: there is no place for words, so there is an
  // exit code.
  if (!harden_process()) return kCannotHarden;
  auto carrier = take_carrier();
  UniqueFd exe = open_own_binary(name);
  UniqueFd signals = take_signals();
  if (!carrier || !exe || !signals) return kCannotHarden;
  return Runner(places, std::move(*carrier), std::move(exe), std::move(signals)).run();
}

int print_version() {
  std::puts("mayfly-runner " MAYFLY_VERSION);
  return 0;
}

// `--workspace DIR` and `--scratch DIR`: for a runtime whose sandboxes have them elsewhere.
bool read_places(int argc, char** argv, Places& places) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    if (std::strcmp(argv[i], "--workspace") == 0) {
      places.workspace = argv[i + 1];
    } else if (std::strcmp(argv[i], "--scratch") == 0) {
      places.scratch = argv[i + 1];
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], kTrampolineArgument) == 0) return run_trampoline();
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) return print_version();
    Places places;
    if (!read_places(argc, argv, places)) return kUsage;
    return serve(argc > 0 ? argv[0] : "", places);
  } catch (const std::exception&) {
    return kBug;
  }
}

#include "cli/places.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace mayfly::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread is made
  return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path default_state_dir() {
  if (const auto state = environment("XDG_STATE_HOME"); !state.empty())
    return std::filesystem::path(state) / "mayfly";
  if (geteuid() == 0) return "/var/lib/mayfly";
  return std::filesystem::path(environment("HOME")) / ".local/state/mayfly";
}

std::filesystem::path default_runner_binary() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  auto beside = here / "mayfly-runner";
  if (std::filesystem::exists(beside, ignored)) return beside;
  return here.parent_path() / "lib/mayfly/mayfly-runner";
}

}  // namespace mayfly::cli

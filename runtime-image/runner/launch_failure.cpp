#include "launch_failure.hpp"

#include <cerrno>
#include <system_error>

namespace mayfly::runner {
namespace {

constexpr std::size_t kMostPath = 512;

std::string reason_text(int error) {
  return std::generic_category().message(error);
}

Fault describe_execute(int error, const std::string& program) {
  const std::string message = "exec " + program + ": " + reason_text(error);
  if (error == ENOENT || error == ENOTDIR) return {Reason::command_not_found, message};
  if (error == ENOMEM || error == EAGAIN) return {Reason::internal, message};
  return {Reason::not_executable, message};
}

}  // namespace

std::string shorten(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  return text + "…";
}

Fault describe(const LaunchFailure& failure, const channel::BindSpec& spec) {
  const std::string why = reason_text(failure.error);
  const std::string program = shorten(spec.argv.empty() ? "" : spec.argv.front(), kMostPath);
  switch (failure.stage) {
    case LaunchStage::plan:
      return {Reason::internal, "the process's plan could not be read: " + why};
    case LaunchStage::limits:
      return {Reason::internal, "open_files " + std::to_string(spec.open_files) + ", file_size " +
                                    std::to_string(spec.file_size) + ": " + why};
    case LaunchStage::directory:
      return {Reason::not_executable,
              "working directory " + shorten(spec.working_dir, kMostPath) + ": " + why};
    case LaunchStage::filter:
      return {Reason::internal, "the seccomp filter could not be installed: " + why};
    case LaunchStage::execute:
      return describe_execute(failure.error, program);
    case LaunchStage::interpreter:
      return {Reason::not_executable, "exec " + program + ": its interpreter is missing"};
  }
  return {Reason::internal, "the process could not be started: " + why};
}

std::optional<int> exit_code_for(Reason cause) {
  if (cause == Reason::command_not_found) return 127;
  if (cause == Reason::not_executable) return 126;
  return std::nullopt;
}

}  // namespace mayfly::runner

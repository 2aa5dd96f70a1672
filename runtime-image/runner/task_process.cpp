#include "task_process.hpp"

#include <cerrno>

namespace mayfly::runner {

TaskProcess::TaskProcess(Launched launched, std::string input, std::uint64_t log_bytes)
    : pid_(launched.pid),
      in_(std::move(launched.in)),
      status_(std::move(launched.status)),
      input_(std::move(input)),
      pump_(std::move(launched.out), std::move(launched.err), log_bytes) {}

std::optional<LaunchOutcome> TaskProcess::take_launch_outcome() {
  if (!status_) return std::nullopt;
  auto outcome = read_launch_status(status_.get());
  if (outcome) status_.reset();
  return outcome;
}

void TaskProcess::feed() {
  while (in_ && fed_ < input_.size()) {
    const ssize_t written = ::write(in_.get(), input_.data() + fed_, input_.size() - fed_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) break;  // EPIPE: it reads no more
    fed_ += static_cast<std::size_t>(written);
  }
  in_.reset();
  input_ = std::string();
}

}  // namespace mayfly::runner

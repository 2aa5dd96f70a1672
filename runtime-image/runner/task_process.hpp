// The task's process as the runner holds it: its pid, its pipes, and the input it is still to be given.
#pragma once

#include <optional>
#include <string>

#include "launch.hpp"
#include "output_pump.hpp"

namespace mayfly::runner {

class TaskProcess {
 public:
  TaskProcess(Launched launched, std::string input, std::uint64_t log_bytes);

  pid_t pid() const { return pid_; }
  OutputPump& pump() { return pump_; }
  const OutputPump& pump() const { return pump_; }

  // Once, when it is known whether the program runs.
  std::optional<LaunchOutcome> take_launch_outcome();
  bool is_launching() const { return static_cast<bool>(status_); }

  // Gives the process as much input as it takes; end of file after the last byte.
  void feed();
  void stop_feeding() { in_.reset(); }

  std::optional<int> wait_status;  // once the main process has ended

  // For poll(2); -1 while there is nothing to wait for.
  int status_fd() const { return status_.get(); }
  int in_fd() const { return in_.get(); }

 private:
  pid_t pid_;
  UniqueFd in_, status_;
  std::string input_;
  std::size_t fed_ = 0;
  OutputPump pump_;
};

}  // namespace mayfly::runner

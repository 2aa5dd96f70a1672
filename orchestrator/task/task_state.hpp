// The states, reasons and decisions of a task and of an attempt: pure functions of (state, event), no I/O.
// The picture is in orchestrator/README.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

enum class TaskState {
  // alive
  held,
  queued,
  starting,
  running,
  stopping,
  finalizing,
  // terminal: never changes again
  succeeded,
  failed,
  cancelled,
  timed_out,
  rejected,
  lost,
};

enum class AttemptState {
  reserved,
  preparing,
  created,
  starting,
  running,
  stopping,
  exited,
  collecting,
  reaped,
  unknown
};

enum class Desired { run, stop, kill };

// Whose fault an end was stands in the table of reasons.cpp (user, policy, infra, system, cancelled).
enum class Reason {
  none,
  // user
  exit_nonzero,
  signal,
  command_not_found,
  not_executable,
  output_missing,
  // policy
  oom_killed,
  disk_quota,
  pids_limit,
  log_limit,
  run_timeout,
  idle_timeout,
  cpu_time,
  budget_exhausted,
  policy_denied,
  // infra
  image_unavailable,
  image_pull_failed,
  engine_restarted,
  engine_unreachable,
  engine_refused,
  container_vanished,
  container_restarted,
  prepare_timeout,
  start_timeout,
  queue_timeout,
  total_timeout,
  killed_externally,
  runner_lost,
  runtime_untrusted,
  no_space,
  // system
  runner_protocol_error,
  internal,
  // cancelled
  cancelled_by_user,
  superseded,
  dependency_failed,
};

enum class ReasonClass { none, user, policy, infra, system, cancelled };

// A limit that the kernel answered with an error while the task went on.
enum class LimitHit { memory, pids, disk, log_truncated };

std::string_view name_of(TaskState state);
std::string_view name_of(AttemptState state);
std::string_view name_of(Reason reason);
std::string_view name_of(ReasonClass reason_class);
std::string_view name_of(Desired desired);
std::string_view name_of(LimitHit hit);
std::optional<TaskState> find_task_state(std::string_view name);
std::optional<AttemptState> find_attempt_state(std::string_view name);
std::optional<Reason> find_reason(std::string_view name);
std::optional<Desired> find_desired(std::string_view name);
std::optional<LimitHit> find_limit_hit(std::string_view name);
ReasonClass class_of(Reason reason);
bool is_terminal(TaskState state);

// Whether the step is one that the picture allows. Terminal states allow none.
bool may_become(TaskState from, TaskState to);
bool may_become(AttemptState from, AttemptState to);

// How the main process of a task ended, and why, as the runner saw it.
struct ProcessEnd {
  std::optional<int> exit_code{};  // exactly one of exit_code and signal, unless it never started
  std::optional<int> signal{};
  Reason cause = Reason::none;   // the runner's typed cause: a limit it enforced, command_not_found, or none
  bool oom_killed_main = false;  // the cgroup's oom_kill count rose and the main process died by SIGKILL
  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;
};

struct Verdict {
  TaskState state = TaskState::failed;
  Reason reason = Reason::internal;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string message{};
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// The verdict on an attempt whose runner reported its end. `first_cause` is what the orchestrator itself
// decided first (cancel, total timeout), none when it decided nothing: the first cause of an end wins.
// A process that had ended by itself before our stop reached it keeps its own verdict.
Verdict decide_verdict(const ProcessEnd& end, Reason first_cause);
// The verdict on an attempt that ended without its process's own end: an infra or system fault, or a cancel.
Verdict decide_verdict_without_end(Reason cause, std::string message);

}  // namespace mayfly

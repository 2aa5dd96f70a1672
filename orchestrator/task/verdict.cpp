// The decision how a task ended (declared in task_state.hpp).
#include <csignal>
#include <cstring>

#include "task/reason_table.hpp"

namespace mayfly {
namespace {

// What a shell answers for these two, so that a user meets the codes he knows.
constexpr int kExitNotFound = 127;
constexpr int kExitNotExecutable = 126;

std::string describe_signal(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  auto text = "signal " + std::to_string(signal);
  return abbreviation == nullptr ? text : text + " (SIG" + abbreviation + ")";
}

std::string describe_end(const ProcessEnd& end) {
  return end.signal ? describe_signal(*end.signal) : "exit code " + std::to_string(*end.exit_code);
}

bool has_ended(const ProcessEnd& end) {
  return end.exit_code.has_value() != end.signal.has_value();
}

// Why a process ended that nobody stopped. 137 says nothing about memory: only the kernel's count does.
Reason reason_of_own_end(const ProcessEnd& end) {
  if (end.oom_killed_main) return Reason::oom_killed;
  if (end.signal) return Reason::signal;
  return *end.exit_code == 0 ? Reason::none : Reason::exit_nonzero;
}

// The first cause wins, and the runner stands nearest to it: what it names (a limit of its own, or our stop
// when that reached the process first) is what ended the process. Where it names nothing, an exit code is the
// process's own: it had ended by itself before our stop arrived, and keeps its verdict. A signal that nobody
// explains is our own kill when there was one (an engine's kill reaches the process without the runner's
// knowledge), unless it was the kernel's for memory.
Reason reason_of(const ProcessEnd& end, Reason first_cause) {
  if (end.cause != Reason::none) return end.cause;
  const auto own = reason_of_own_end(end);
  return own == Reason::signal && first_cause != Reason::none ? first_cause : own;
}

std::string describe(Reason reason, const ProcessEnd& end) {
  switch (reason) {
    case Reason::none:
    case Reason::exit_nonzero:
      return "the process ended with exit code " + std::to_string(end.exit_code.value_or(0));
    case Reason::signal:
      return "the process was ended by " + describe_signal(end.signal.value_or(0));
    default:
      break;
  }
  std::string message(row_of(reason).sentence);
  if (has_ended(end) && !end.oom_killed_main)
    message += " (the process ended with " + describe_end(end) + ")";
  return message;
}

Verdict decide_unstarted(Reason cause, int exit_code) {
  const auto& row = row_of(cause);
  return {row.ends_as, cause, exit_code, std::nullopt, std::string(row.sentence)};
}

}  // namespace

Verdict decide_verdict(const ProcessEnd& end, Reason first_cause) {
  if (end.cause == Reason::command_not_found) return decide_unstarted(end.cause, kExitNotFound);
  if (end.cause == Reason::not_executable) return decide_unstarted(end.cause, kExitNotExecutable);
  if (!has_ended(end)) {
    // Stopped before it was started: then the cause stands alone.
    const bool never_started = !end.exit_code && !end.signal;
    const auto cause = end.cause != Reason::none ? end.cause : first_cause;
    if (never_started && cause != Reason::none) return decide_verdict_without_end(cause, "");
    return decide_verdict_without_end(
        Reason::runner_protocol_error,
        "the runner reported an end with neither or both of exit code and signal");
  }
  const auto reason = reason_of(end, first_cause);
  return {row_of(reason).ends_as, reason, end.exit_code, end.signal, describe(reason, end)};
}

Verdict decide_verdict_without_end(Reason cause, std::string message) {
  if (cause == Reason::none) cause = Reason::internal;
  const auto& row = row_of(cause);
  if (message.empty()) message = row.sentence;
  return {row.ends_as, cause, std::nullopt, std::nullopt, std::move(message)};
}

}  // namespace mayfly

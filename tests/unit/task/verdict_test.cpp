#include <catch2/catch.hpp>

#include "task/task_state.hpp"

using namespace mayfly;

namespace {

ProcessEnd exited(int code, Reason cause = Reason::none) {
  return {.exit_code = code, .cause = cause};
}
ProcessEnd killed(int signal, Reason cause = Reason::none) {
  return {.signal = signal, .cause = cause};
}

struct Expected {
  ProcessEnd end;
  Reason first_cause;
  TaskState state;
  Reason reason;
};

void check(const Expected& wanted) {
  const auto verdict = decide_verdict(wanted.end, wanted.first_cause);
  INFO(name_of(verdict.state) << " " << name_of(verdict.reason) << ": " << verdict.message);
  CHECK(verdict.state == wanted.state);
  CHECK(verdict.reason == wanted.reason);
  CHECK(verdict.exit_code == wanted.end.exit_code);
  CHECK(verdict.signal == wanted.end.signal);
  CHECK_FALSE(verdict.message.empty());
}

}  // namespace

TEST_CASE("a process that nobody stopped is judged by its own end") {
  check({exited(0), Reason::none, TaskState::succeeded, Reason::none});
  check({exited(1), Reason::none, TaskState::failed, Reason::exit_nonzero});
  check({exited(255), Reason::none, TaskState::failed, Reason::exit_nonzero});
  check({killed(11), Reason::none, TaskState::failed, Reason::signal});
  CHECK(decide_verdict(exited(3), Reason::none).message == "the process ended with exit code 3");
  CHECK(decide_verdict(killed(11), Reason::none).message == "the process was ended by signal 11 (SIGSEGV)");
  CHECK(decide_verdict(killed(40), Reason::none).message == "the process was ended by signal 40");
}

TEST_CASE("F11 the kinds of a death by SIGKILL are told apart and 137 alone is never out of memory") {
  auto out_of_memory = killed(9);
  out_of_memory.oom_killed_main = true;
  check({out_of_memory, Reason::none, TaskState::failed, Reason::oom_killed});
  check({exited(0), Reason::none, TaskState::succeeded,
         Reason::none});  // a child was killed for memory: a limits_hit note
  check({exited(137), Reason::none, TaskState::failed, Reason::exit_nonzero});
  check({killed(9), Reason::none, TaskState::failed, Reason::signal});
  check({killed(9, Reason::cancelled_by_user), Reason::cancelled_by_user, TaskState::cancelled,
         Reason::cancelled_by_user});
  check({killed(9, Reason::run_timeout), Reason::none, TaskState::timed_out, Reason::run_timeout});
  const auto outside = decide_verdict_without_end(Reason::killed_externally, "");
  CHECK(outside.state == TaskState::failed);
  CHECK(outside.reason == Reason::killed_externally);
}

TEST_CASE("a limit that the runner enforced is the reason whatever the process made of the signal") {
  for (const auto& end : {exited(0), exited(3), killed(15), killed(9)}) {
    const auto with = [&](Reason cause) { return ProcessEnd{end.exit_code, end.signal, cause, false}; };
    check({with(Reason::run_timeout), Reason::none, TaskState::timed_out, Reason::run_timeout});
    check({with(Reason::idle_timeout), Reason::none, TaskState::timed_out, Reason::idle_timeout});
    check({with(Reason::cpu_time), Reason::none, TaskState::timed_out, Reason::cpu_time});
    check({with(Reason::log_limit), Reason::none, TaskState::failed, Reason::log_limit});
    check({with(Reason::total_timeout), Reason::total_timeout, TaskState::timed_out, Reason::total_timeout});
    check({with(Reason::cancelled_by_user), Reason::cancelled_by_user, TaskState::cancelled,
           Reason::cancelled_by_user});
  }
}

TEST_CASE("the first cause wins between a limit and a cancel") {
  // The limit had struck when our stop came: the runner keeps the cause that was first.
  check({killed(15, Reason::run_timeout), Reason::cancelled_by_user, TaskState::timed_out,
         Reason::run_timeout});
  auto late_oom = killed(9, Reason::run_timeout);
  late_oom.oom_killed_main = true;
  check({late_oom, Reason::none, TaskState::timed_out, Reason::run_timeout});
}

TEST_CASE("cancel just as the task exits leaves the end that the process had by itself") {
  check({exited(0), Reason::cancelled_by_user, TaskState::succeeded, Reason::none});
  check({exited(4), Reason::cancelled_by_user, TaskState::failed, Reason::exit_nonzero});
  check({exited(0), Reason::total_timeout, TaskState::succeeded, Reason::none});
}

TEST_CASE("a signal that the runner cannot explain is our own stop when there was one") {
  check({killed(9), Reason::cancelled_by_user, TaskState::cancelled, Reason::cancelled_by_user});
  check({killed(9), Reason::total_timeout, TaskState::timed_out, Reason::total_timeout});
  auto out_of_memory = killed(9);
  out_of_memory.oom_killed_main = true;
  check({out_of_memory, Reason::cancelled_by_user, TaskState::failed, Reason::oom_killed});
}

TEST_CASE("a program that cannot be started has the exit code that a shell gives") {
  const auto missing = decide_verdict({.cause = Reason::command_not_found}, Reason::none);
  CHECK(missing.state == TaskState::failed);
  CHECK(missing.reason == Reason::command_not_found);
  CHECK(missing.exit_code == 127);
  const auto refused = decide_verdict({.cause = Reason::not_executable}, Reason::none);
  CHECK(refused.reason == Reason::not_executable);
  CHECK(refused.exit_code == 126);
}

TEST_CASE("a task stopped before its process was started ends by that stop") {
  const auto verdict = decide_verdict({.cause = Reason::cancelled_by_user}, Reason::cancelled_by_user);
  CHECK(verdict.state == TaskState::cancelled);
  CHECK_FALSE(verdict.exit_code);
  CHECK(decide_verdict({}, Reason::total_timeout).state == TaskState::timed_out);
}

TEST_CASE("F13 an end without code and signal is never success") {
  const auto neither = decide_verdict({}, Reason::none);
  CHECK(neither.state == TaskState::failed);
  CHECK(neither.reason == Reason::runner_protocol_error);
  const auto both = decide_verdict({.exit_code = 0, .signal = 9}, Reason::none);
  CHECK(both.state == TaskState::failed);
  CHECK(both.reason == Reason::runner_protocol_error);
}

TEST_CASE("an attempt that vanished is lost and one that never came to be has failed") {
  const auto state_of = [](Reason cause) { return decide_verdict_without_end(cause, "why").state; };
  for (const auto cause : {Reason::container_vanished, Reason::container_restarted, Reason::engine_restarted,
                           Reason::runner_lost}) {
    CHECK(state_of(cause) == TaskState::lost);
  }
  for (const auto cause : {Reason::image_unavailable, Reason::image_pull_failed, Reason::engine_refused,
                           Reason::runtime_untrusted, Reason::no_space, Reason::internal}) {
    CHECK(state_of(cause) == TaskState::failed);
  }
  for (const auto cause :
       {Reason::queue_timeout, Reason::prepare_timeout, Reason::start_timeout, Reason::total_timeout}) {
    CHECK(state_of(cause) == TaskState::timed_out);
  }
  for (const auto cause : {Reason::cancelled_by_user, Reason::superseded, Reason::dependency_failed}) {
    CHECK(state_of(cause) == TaskState::cancelled);
  }
  CHECK(state_of(Reason::policy_denied) == TaskState::rejected);
}

TEST_CASE("a verdict without an end keeps the message it was given and has a sentence otherwise") {
  CHECK(decide_verdict_without_end(Reason::internal, "disk fell off").message == "disk fell off");
  CHECK(decide_verdict_without_end(Reason::queue_timeout, "").message ==
        "the task waited in the queue longer than timeouts.queue");
  const auto no_cause = decide_verdict_without_end(Reason::none, "");
  CHECK(no_cause.state == TaskState::failed);
  CHECK(no_cause.reason == Reason::internal);
}

TEST_CASE("every verdict is one that a living task may have") {
  for (int cause = 0; cause <= static_cast<int>(Reason::dependency_failed); ++cause) {
    const auto verdict = decide_verdict_without_end(static_cast<Reason>(cause), "");
    CHECK(may_become(TaskState::starting, verdict.state));
    CHECK(verdict.state != TaskState::succeeded);
  }
}

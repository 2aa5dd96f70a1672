#include "task/task_state.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace mayfly;

namespace {

template <class State>
std::vector<State> all_to(State last) {
  std::vector<State> states;
  for (int i = 0; i <= static_cast<int>(last); ++i) states.push_back(static_cast<State>(i));
  return states;
}

const auto kTaskStates = all_to(TaskState::lost);
const auto kAttemptStates = all_to(AttemptState::unknown);
const auto kReasons = all_to(Reason::dependency_failed);

}  // namespace

TEST_CASE("every name leads back to its value and to no other") {
  for (const auto state : kTaskStates) CHECK(find_task_state(name_of(state)) == state);
  for (const auto state : kAttemptStates) CHECK(find_attempt_state(name_of(state)) == state);
  for (const auto reason : kReasons) CHECK(find_reason(name_of(reason)) == reason);
  for (const auto desired : all_to(Desired::kill)) CHECK(find_desired(name_of(desired)) == desired);
  for (const auto hit : all_to(LimitHit::log_truncated)) CHECK(find_limit_hit(name_of(hit)) == hit);
  CHECK_FALSE(find_task_state("Succeeded"));
  CHECK_FALSE(find_reason(""));
  CHECK(name_of(TaskState::timed_out) == "timed_out");
  CHECK(name_of(Reason::total_timeout) == "total_timeout");
}

TEST_CASE("a terminal state never changes") {
  for (const auto from : kTaskStates) {
    if (!is_terminal(from)) continue;
    for (const auto to : kTaskStates) CHECK_FALSE(may_become(from, to));
  }
  for (const auto to : kAttemptStates) CHECK_FALSE(may_become(AttemptState::reaped, to));
}

TEST_CASE("the terminal states are the six of the picture") {
  std::vector<TaskState> terminal;
  for (const auto state : kTaskStates) {
    if (is_terminal(state)) terminal.push_back(state);
  }
  CHECK(terminal == std::vector{TaskState::succeeded, TaskState::failed, TaskState::cancelled,
                                TaskState::timed_out, TaskState::rejected, TaskState::lost});
}

TEST_CASE("a task goes forward and never back but for a start that never was") {
  const std::vector line = {TaskState::held,    TaskState::queued,   TaskState::starting,
                            TaskState::running, TaskState::stopping, TaskState::finalizing};
  for (std::size_t from = 0; from < line.size(); ++from) {
    CHECK_FALSE(may_become(line[from], line[from]));
    if (from + 1 < line.size()) CHECK(may_become(line[from], line[from + 1]));
    for (std::size_t to = 0; to < from; ++to) {
      const bool is_new_attempt = line[from] == TaskState::starting && line[to] == TaskState::queued;
      CHECK(may_become(line[from], line[to]) == is_new_attempt);
    }
  }
}

TEST_CASE("only a task whose results are safe can succeed") {
  for (const auto from : kTaskStates)
    CHECK(may_become(from, TaskState::succeeded) == (from == TaskState::finalizing));
}

TEST_CASE("a task that cannot have run is not lost and one that may have run is not rejected") {
  for (const auto from : {TaskState::held, TaskState::queued}) CHECK_FALSE(may_become(from, TaskState::lost));
  for (const auto from : {TaskState::running, TaskState::stopping, TaskState::finalizing}) {
    CHECK_FALSE(may_become(from, TaskState::rejected));
    CHECK(may_become(from, TaskState::lost));
  }
}

TEST_CASE("every living task can be cancelled and can time out and can fail") {
  for (const auto from : kTaskStates) {
    if (is_terminal(from)) continue;
    for (const auto to : {TaskState::cancelled, TaskState::timed_out, TaskState::failed})
      CHECK(may_become(from, to));
  }
}

TEST_CASE("an attempt follows its line and can be given up at any point") {
  const std::vector line = {AttemptState::reserved, AttemptState::preparing,  AttemptState::created,
                            AttemptState::starting, AttemptState::running,    AttemptState::stopping,
                            AttemptState::exited,   AttemptState::collecting, AttemptState::reaped};
  for (std::size_t from = 0; from + 1 < line.size(); ++from) {
    CHECK(may_become(line[from], line[from + 1]));
    CHECK(may_become(line[from], AttemptState::reaped));
    for (std::size_t to = 0; to <= from; ++to) CHECK_FALSE(may_become(line[from], line[to]));
  }
}

TEST_CASE("an attempt on an engine out of reach is unknown until the engine answers") {
  CHECK_FALSE(may_become(AttemptState::reserved, AttemptState::unknown));
  CHECK_FALSE(may_become(AttemptState::unknown, AttemptState::reserved));
  for (const auto state :
       {AttemptState::preparing, AttemptState::created, AttemptState::starting, AttemptState::running,
        AttemptState::stopping, AttemptState::exited, AttemptState::collecting}) {
    CHECK(may_become(state, AttemptState::unknown));
    CHECK(may_become(AttemptState::unknown, state));
  }
  CHECK(may_become(AttemptState::unknown, AttemptState::reaped));
}

TEST_CASE("each reason blames the one whose fault it is") {
  CHECK(class_of(Reason::none) == ReasonClass::none);
  CHECK(class_of(Reason::exit_nonzero) == ReasonClass::user);
  CHECK(class_of(Reason::output_missing) == ReasonClass::user);
  CHECK(class_of(Reason::oom_killed) == ReasonClass::policy);
  CHECK(class_of(Reason::policy_denied) == ReasonClass::policy);
  CHECK(class_of(Reason::image_unavailable) == ReasonClass::infra);
  CHECK(class_of(Reason::no_space) == ReasonClass::infra);
  CHECK(class_of(Reason::runner_protocol_error) == ReasonClass::system);
  CHECK(class_of(Reason::dependency_failed) == ReasonClass::cancelled);
  for (const auto reason : kReasons)
    CHECK((class_of(reason) == ReasonClass::none) == (reason == Reason::none));
}

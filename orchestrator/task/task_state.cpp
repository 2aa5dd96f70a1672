#include "task/task_state.hpp"

#include <cstdint>

#include "task/name_table.hpp"

namespace mayfly {
namespace {

// A set of states as bits.
template <class... State>
constexpr std::uint32_t any_of(State... states) {
  return (... | (1U << static_cast<unsigned>(states)));
}

template <class State>
struct StateRow {
  State value;
  std::string_view name;
  std::uint32_t next;  // what it may become
};

template <class Table, class State>
constexpr bool is_step(const Table& table, State from, State to) {
  return (table.at(static_cast<std::size_t>(from)).next & any_of(to)) != 0;
}

//            ┌─ another attempt, when the process is proved not to have started
//            v                 │
//  held → queued ─────────→ starting → running → stopping → finalizing → succeeded
//   │        │                 │          │         │           │
//   └────────┴─────────────────┴──────────┴─────────┴───────────┴─→ failed cancelled timed_out
//                                                                   rejected (until it runs) lost (once it
//                                                                   may have run)
//
// A step forward may leave out states between: a process that ends at once goes from starting to finalizing.
// Only finalizing can become succeeded, since before it the results are not on disk.
constexpr auto kEndsUnstarted =
    any_of(TaskState::failed, TaskState::cancelled, TaskState::timed_out, TaskState::rejected);
constexpr auto kEndsStarted =
    any_of(TaskState::failed, TaskState::cancelled, TaskState::timed_out, TaskState::lost);

constexpr std::array<StateRow<TaskState>, 12> kTaskStates = {{
    {TaskState::held, "held", any_of(TaskState::queued) | kEndsUnstarted},
    {TaskState::queued, "queued", any_of(TaskState::starting) | kEndsUnstarted},
    {TaskState::starting, "starting",
     any_of(TaskState::queued, TaskState::running, TaskState::stopping, TaskState::finalizing) |
         kEndsUnstarted | kEndsStarted},
    {TaskState::running, "running", any_of(TaskState::stopping, TaskState::finalizing) | kEndsStarted},
    {TaskState::stopping, "stopping", any_of(TaskState::finalizing) | kEndsStarted},
    {TaskState::finalizing, "finalizing", any_of(TaskState::succeeded) | kEndsStarted},
    {TaskState::succeeded, "succeeded", 0},
    {TaskState::failed, "failed", 0},
    {TaskState::cancelled, "cancelled", 0},
    {TaskState::timed_out, "timed_out", 0},
    {TaskState::rejected, "rejected", 0},
    {TaskState::lost, "lost", 0},
}};
static_assert(is_complete(kTaskStates, TaskState::lost));

//  reserved → preparing → created → starting → running → stopping → exited → collecting → reaped
//
// A step forward may leave out stopping, collecting, and running (a process that was never seen to run).
// Every state may become reaped, since an attempt can be given up at any point, and from the first engine
// call on every state may become unknown, from which asking the engine leads back to wherever the attempt
// really is.
constexpr auto kGivenUp = any_of(AttemptState::reaped);
constexpr auto kGivenUpOrUnknown = any_of(AttemptState::reaped, AttemptState::unknown);

constexpr std::array<StateRow<AttemptState>, 10> kAttemptStates = {{
    {AttemptState::reserved, "reserved", any_of(AttemptState::preparing) | kGivenUp},
    {AttemptState::preparing, "preparing", any_of(AttemptState::created) | kGivenUpOrUnknown},
    {AttemptState::created, "created", any_of(AttemptState::starting) | kGivenUpOrUnknown},
    {AttemptState::starting, "starting",
     any_of(AttemptState::running, AttemptState::stopping, AttemptState::exited) | kGivenUpOrUnknown},
    {AttemptState::running, "running",
     any_of(AttemptState::stopping, AttemptState::exited) | kGivenUpOrUnknown},
    {AttemptState::stopping, "stopping", any_of(AttemptState::exited) | kGivenUpOrUnknown},
    {AttemptState::exited, "exited", any_of(AttemptState::collecting) | kGivenUpOrUnknown},
    {AttemptState::collecting, "collecting", kGivenUpOrUnknown},
    {AttemptState::reaped, "reaped", 0},
    {AttemptState::unknown, "unknown",
     any_of(AttemptState::preparing, AttemptState::created, AttemptState::starting, AttemptState::running,
            AttemptState::stopping, AttemptState::exited, AttemptState::collecting) |
         kGivenUp},
}};
static_assert(is_complete(kAttemptStates, AttemptState::unknown));

constexpr std::array kDesired = {Named{Desired::run, "run"}, Named{Desired::stop, "stop"},
                                 Named{Desired::kill, "kill"}};
static_assert(is_complete(kDesired, Desired::kill));

constexpr std::array kLimitHits = {Named{LimitHit::memory, "memory"}, Named{LimitHit::pids, "pids"},
                                   Named{LimitHit::disk, "disk"},
                                   Named{LimitHit::log_truncated, "log_truncated"}};
static_assert(is_complete(kLimitHits, LimitHit::log_truncated));

}  // namespace

std::string_view name_of(TaskState state) {
  return name_in(kTaskStates, state);
}
std::string_view name_of(AttemptState state) {
  return name_in(kAttemptStates, state);
}
std::string_view name_of(Desired desired) {
  return name_in(kDesired, desired);
}
std::string_view name_of(LimitHit hit) {
  return name_in(kLimitHits, hit);
}

std::optional<TaskState> find_task_state(std::string_view name) {
  return find_in(kTaskStates, name);
}
std::optional<AttemptState> find_attempt_state(std::string_view name) {
  return find_in(kAttemptStates, name);
}
std::optional<Desired> find_desired(std::string_view name) {
  return find_in(kDesired, name);
}
std::optional<LimitHit> find_limit_hit(std::string_view name) {
  return find_in(kLimitHits, name);
}

bool is_terminal(TaskState state) {
  return kTaskStates.at(static_cast<std::size_t>(state)).next == 0;
}

bool may_become(TaskState from, TaskState to) {
  return is_step(kTaskStates, from, to);
}
bool may_become(AttemptState from, AttemptState to) {
  return is_step(kAttemptStates, from, to);
}

}  // namespace mayfly

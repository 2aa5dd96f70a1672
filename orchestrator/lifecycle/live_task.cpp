#include "lifecycle/live_task.hpp"

#include <algorithm>

#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

constexpr Millis kFirstBackoff{200};
constexpr Millis kLongestBackoff{5000};

void count_state(Metrics& metrics, const TaskRecord& before, const TaskRecord& after) {
  if (before.state == after.state || !is_terminal(after.state)) return;
  metrics.add("mayfly_tasks_ended_total",
              {{"state", std::string(name_of(after.state))}, {"reason", std::string(name_of(after.reason))}});
}

}  // namespace

LiveTask::LiveTask(Services& services, TaskRecord record)
    : services_(services),
      record_(std::move(record)),
      lock_(services.io),
      changed_(services.io),
      wake_(services.io) {
  attempt_.task = record_.id;
}

Async<> LiveTask::try_update(Change change) {
  const auto hold = co_await lock_.acquire();
  if (change.unless_ended && is_terminal(record_.state)) co_return Result<>{};
  TaskRecord task = record_;
  AttemptRecord attempt = attempt_;
  change.apply(task, attempt);
  std::optional<AttemptRecord> saved_attempt;
  if (!attempt.id.empty()) saved_attempt = attempt;
  auto revision = co_await services_.store.save(task, std::move(saved_attempt), std::move(change.events));
  if (!revision) co_return fail_with(std::move(revision));
  task.revision = *revision;
  count_state(services_.metrics, record_, task);
  record_ = std::move(task);
  attempt_ = std::move(attempt);
  changed_.notify();
  wake_.notify();
  co_return Result<>{};
}

asio::awaitable<void> LiveTask::update(Change change) {
  for (Millis backoff = kFirstBackoff;; backoff = std::min(2 * backoff, kLongestBackoff)) {
    auto saved = co_await try_update(change);
    if (saved) co_return;
    services_.log.error("lifecycle", "a task's step could not be saved; trying again",
                        {{"task_id", id().str()}, {"error", saved.error().message}});
    co_await sleep_until(Deadline::in(backoff));
  }
}

Change make_change(std::function<void(TaskRecord&, AttemptRecord&)> apply, std::vector<NewEvent> events) {
  Change change;
  change.apply = std::move(apply);
  change.events = std::move(events);
  return change;
}

Change want_end(Reason reason) {
  auto apply = [reason](TaskRecord& task, AttemptRecord&) {
    if (task.desired == Desired::run) task.desired_reason = reason;
    task.desired = Desired::stop;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "task.stop_wanted", .data = Json{{"reason", name_of(reason)}}});
  return {.apply = std::move(apply), .events = std::move(events), .unless_ended = true};
}

}  // namespace mayfly

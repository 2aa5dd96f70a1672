// Phase: schedule. Starts queued tasks while the node has room, and ends those that waited too long.
#include "async/with_deadline.hpp"
#include "lifecycle/control_plane.hpp"
#include "lifecycle/task_runner.hpp"

namespace mayfly {
namespace {

constexpr Millis kLookAtLeast{1'000};

Change scheduled(AttemptRecord fresh, WallTime now) {
  auto apply = [fresh = std::move(fresh), now](TaskRecord& task, AttemptRecord& attempt) {
    attempt = fresh;
    task.state = TaskState::starting;
    task.attempts = attempt.number;
    task.pending_reason.clear();
    // Phases tell of the attempt that counts: those of an earlier one that never started are forgotten.
    task.times.scheduled = now;
    task.times.prepared.reset();
    task.times.bound.reset();
    task.times.first_output.reset();
    task.times.ended.reset();
    attempt.state = AttemptState::reserved;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "task.starting", .data = Json::object()});
  return {.apply = apply, .events = std::move(events)};
}

}  // namespace

void ControlPlane::enqueue(const LivePtr& task) {
  const TaskRecord& record = task->record();
  scheduler_.enqueue(record.id, record.spec.priority, record.granted);
  const Millis waited = services_.clock.wall() - record.times.submitted.value_or(services_.clock.wall());
  const Millis left = std::max(Millis(0), std::min(record.timeouts.queue, record.timeouts.total) - waited);
  queue_deadlines_.emplace(services_.clock.mono() + left, record.id);
  update_gauges();
  schedule_due_.notify();
}

asio::awaitable<void> ControlPlane::schedule_loop() {
  for (;;) {
    if (engine_up_) {
      while (const auto id = scheduler_.take_next()) {
        if (const auto task = find_live(*id)) tasks_.spawn("task " + id->str(), start_task(task));
      }
      update_gauges();
    }
    co_await expire_queued();
    co_await schedule_due_.wait(Deadline::in(kLookAtLeast));
  }
}

asio::awaitable<void> ControlPlane::start_task(LivePtr task) {
  AttemptRecord attempt;
  attempt.id = make_id<AttemptId>();
  attempt.task = task->id();
  attempt.sandbox = make_id<SandboxId>();
  attempt.number = task->record().attempts + 1;
  co_await task->update(scheduled(std::move(attempt), services_.clock.wall()));
  const RunOutcome outcome = co_await run_attempt(*task, services_, policy_, Entry::launch);
  co_await leave_node(task, outcome == RunOutcome::again ? After::queue_again : After::over);
}

// A cancel that came while the attempt was being destroyed found nothing to stop: it is carried out here.
asio::awaitable<void> ControlPlane::leave_node(LivePtr task, After after) {
  scheduler_.release(task->id());
  if (after == After::over) {
    forget(task);
  } else if (task->stop_wanted()) {
    co_await end_queued(task, task->stop_reason(), "ended before it started again");
  } else {
    enqueue(task);
  }
}

asio::awaitable<void> ControlPlane::end_queued(LivePtr task, Reason reason, std::string message) {
  co_await end_without_attempt(*task, services_, reason, std::move(message));
  forget(task);
}

asio::awaitable<void> ControlPlane::expire_queued() {
  while (!queue_deadlines_.empty() && queue_deadlines_.begin()->first <= services_.clock.mono()) {
    const TaskId id = queue_deadlines_.begin()->second;
    queue_deadlines_.erase(queue_deadlines_.begin());
    const auto task = find_live(id);
    if (!task || !scheduler_.remove(id)) continue;
    const std::string why = view_of(*task).pending_reason;
    tasks_.spawn("expire",
                 end_queued(task, Reason::queue_timeout, "waited too long in the queue; at the end: " + why));
  }
  co_return;
}

void ControlPlane::forget(const LivePtr& task) {
  task->changed().notify();
  live_.erase(task->id());
  update_gauges();
  schedule_due_.notify();
}

void ControlPlane::update_gauges() {
  services_.metrics.set("mayfly_queue_length", static_cast<double>(scheduler_.queued()));
  services_.metrics.set("mayfly_sandboxes_live", static_cast<double>(scheduler_.running()));
}

}  // namespace mayfly

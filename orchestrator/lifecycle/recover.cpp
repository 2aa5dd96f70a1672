// Phase: recover. What an earlier process left unfinished is put back where it stood.
#include "lifecycle/control_plane.hpp"
#include "lifecycle/destroy.hpp"
#include "lifecycle/finish.hpp"
#include "lifecycle/task_runner.hpp"

namespace mayfly {

Async<> ControlPlane::recover() {
  auto unfinished = co_await services_.store.unfinished_tasks();
  if (!unfinished) co_return fail_with(std::move(unfinished));
  for (TaskRecord& record : *unfinished) {
    auto taken = co_await take_back(std::move(record));
    if (!taken) co_return taken;
  }
  if (!live_.empty()) {
    services_.log.info("lifecycle", "unfinished tasks were taken back",
                       {{"count", std::to_string(live_.size())}});
  }
  co_return Result<>{};
}

Async<> ControlPlane::take_back(TaskRecord record) {
  const auto task = std::make_shared<LiveTask>(services_, std::move(record));
  auto attempts = co_await services_.store.attempts_of(task->id());
  if (!attempts) co_return fail_with(std::move(attempts));
  if (!attempts->empty()) task->set_attempt(attempts->back());
  live_.emplace(task->id(), task);
  if (task->record().state == TaskState::queued && !task->stop_wanted()) {
    enqueue(task);
  } else if (task->record().state == TaskState::queued) {
    tasks_.spawn("cancel", end_queued(task, task->stop_reason(), "cancelled while queued"));
  } else {
    scheduler_.reserve(task->id(), task->record().granted);
    tasks_.spawn("recover " + task->id().str(), continue_task(task));
  }
  co_return Result<>{};
}

asio::awaitable<void> ControlPlane::continue_task(LivePtr task) {
  while (!engine_up_) co_await schedule_due_.wait(Deadline::in(std::chrono::seconds(1)));
  RunOutcome outcome = RunOutcome::over;
  if (is_terminal(task->record().state)) {
    co_await seal_log(services_, task->id());
    co_await destroy(*task, services_);
  } else if (!task->attempt().bind_intent || task->attempt().state == AttemptState::reaped) {
    // No bind intent on disk, or an attempt that was reaped on its way back to the queue: the user's process
    // never started, so a new attempt does no harm.
    co_await destroy(*task, services_);
    if (task->stop_wanted()) {
      co_await end_without_attempt(*task, services_, task->stop_reason(), "ended before it started");
    } else {
      auto requeue = [](TaskRecord& record, AttemptRecord&) { record.state = TaskState::queued; };
      std::vector<NewEvent> events;
      events.push_back({.type = "task.requeued", .data = Json{{"reason", "server_restarted"}}});
      co_await task->update(make_change(requeue, std::move(events)));
      outcome = RunOutcome::again;
    }
  } else {
    outcome = co_await run_attempt(*task, services_, policy_, Entry::adopt);
  }
  co_await leave_node(task, outcome == RunOutcome::again ? After::queue_again : After::over);
}

}  // namespace mayfly

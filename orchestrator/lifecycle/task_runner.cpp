#include "lifecycle/task_runner.hpp"

#include <boost/asio/this_coro.hpp>
#include <exception>

#include "lifecycle/adopt.hpp"
#include "lifecycle/collect.hpp"
#include "lifecycle/destroy.hpp"
#include "lifecycle/finish.hpp"
#include "lifecycle/launch.hpp"
#include "lifecycle/stream.hpp"

namespace mayfly {
namespace {

constexpr std::uint32_t kMostAttempts = 5;  // of an infra retry; each began while the engine answered

asio::awaitable<void> note_end(LiveTask& task, const Services& services, Usage usage) {
  auto apply = [usage, now = services.clock.wall()](TaskRecord& record, AttemptRecord& attempt) {
    if (may_become(record.state, TaskState::finalizing)) record.state = TaskState::finalizing;
    record.times.ended = now;
    record.usage = usage;
    if (!record.times.bound) record.times.bound = now;
    attempt.state = AttemptState::collecting;
  };
  co_await task.update(make_change(apply));
}

asio::awaitable<void> back_to_queue(LiveTask& task, Failure failure) {
  auto apply = [&failure](TaskRecord& record, AttemptRecord& attempt) {
    record.state = TaskState::queued;
    record.pending_reason = std::string(name_of(failure.reason)) + ": " + failure.message;
    attempt.state = AttemptState::reaped;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "task.requeued", .data = Json{{"reason", name_of(failure.reason)}}});
  co_await task.update(make_change(apply, std::move(events)));
}

std::string gap_text(const Failure& failure) {
  return std::string(name_of(failure.reason)) + (failure.message.empty() ? "" : ": " + failure.message);
}

asio::awaitable<RunOutcome> end_by_failure(Attempt& attempt, Services& services, Failure failure) {
  LiveTask& task = attempt.task;
  co_await close_carrier(attempt);
  const bool again = failure.may_retry && !task.stop_wanted() && task.attempt().number < kMostAttempts;
  if (again) {
    co_await destroy(task, services);
    co_await back_to_queue(task, failure);
    co_return RunOutcome::again;
  }
  const Reason cause = task.stop_wanted() ? task.stop_reason() : failure.reason;
  Verdict verdict = decide_verdict_without_end(cause, failure.message);
  std::optional<std::string> gap;
  if (task.attempt().bind_intent) gap = gap_text(failure);
  Collected nothing;
  co_await finish(task, services, attempt.writer.get(), std::move(verdict), std::move(nothing),
                  std::move(gap));
  co_await destroy(task, services);
  co_return RunOutcome::over;
}

asio::awaitable<RunOutcome> live(Attempt& attempt, Services& services, Entry entry) {
  LiveTask& task = attempt.task;
  // No co_await within ?: since g++ 12 destroys the branch's temporary twice.
  tl::expected<void, Failure> bound;
  if (entry == Entry::launch) {
    bound = co_await launch(attempt);
  } else {
    bound = co_await adopt(attempt);
  }
  if (!bound) co_return co_await end_by_failure(attempt, services, bound.error());

  auto ended = co_await stream(attempt);
  if (!ended) co_return co_await end_by_failure(attempt, services, ended.error());

  co_await note_end(task, services, ended->usage);
  Collected collected = co_await collect(attempt);
  Verdict verdict = judge(*ended, collected, task.stop_reason());
  co_await finish(task, services, attempt.writer.get(), std::move(verdict), std::move(collected),
                  std::nullopt);

  co_await release(attempt);
  co_await destroy(task, services);
  co_return RunOutcome::over;
}

}  // namespace

asio::awaitable<RunOutcome> run_attempt(LiveTask& task, Services& services,
                                        std::shared_ptr<const Policy> policy, Entry entry) {
  auto writer = co_await services.logs.open_writer(task.id(), task.attempt().number);
  if (!writer) {
    const Failure failure = failure_of(writer.error(), Phase::collect);
    co_await end_without_attempt(task, services, failure.reason,
                                 "the log could not be opened: " + failure.message);
    co_return RunOutcome::over;
  }
  Attempt attempt(services, task, std::move(policy), std::move(*writer));
  std::exception_ptr thrown;
  try {
    co_return co_await live(attempt, services, entry);
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool shutdown =
      (co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none;
  co_await asio::this_coro::reset_cancellation_state();
  co_await close_carrier(attempt);
  // At shutdown the sandbox stays for the next process. Anything else that was thrown is a bug: the task must
  // end.
  if (shutdown) std::rethrow_exception(thrown);
  services.log.error(
      "lifecycle", "a task's coroutine failed",
      {{"task_id", task.id().str()}, {"what", what_escaped(thrown).value_or("cancelled by nobody")}});
  const Failure bug{.reason = Reason::internal,
                    .message = "an internal error of the server; see its log",
                    .may_retry = false};
  if (!is_terminal(task.record().state)) co_return co_await end_by_failure(attempt, services, bug);
  co_await destroy(task, services);
  co_return RunOutcome::over;
}

asio::awaitable<void> end_without_attempt(LiveTask& task, Services& services, Reason reason,
                                          std::string message) {
  Verdict verdict = decide_verdict_without_end(reason, std::move(message));
  Collected nothing;
  std::optional<std::string> no_gap;
  co_await finish(task, services, nullptr, std::move(verdict), std::move(nothing), std::move(no_gap));
  if (task.record().cleanup_pending) co_await destroy(task, services);
}

}  // namespace mayfly

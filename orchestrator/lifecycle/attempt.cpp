#include "lifecycle/attempt.hpp"

#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

constexpr Millis kLongestWait{1000};

Deadline total_deadline(const TaskRecord& task, const Clock& clock) {
  const Millis since = clock.wall() - task.times.submitted.value_or(clock.wall());
  return Deadline::in(std::max(Millis(0), task.timeouts.total - since));
}

}  // namespace

Attempt::Attempt(Services& all, LiveTask& live_task, std::shared_ptr<const Policy> admitted_by,
                 std::unique_ptr<LogWriter> log_writer)
    : services(all),
      task(live_task),
      policy(std::move(admitted_by)),
      writer(std::move(log_writer)),
      conversation(task.wake(), all.io, *writer, all.metrics, all.log, all.clock),
      carriers(all.io, all.log),
      total(total_deadline(live_task.record(), all.clock)) {}

Async<> open_carrier(Attempt& attempt, Deadline deadline) {
  co_await close_carrier(attempt);
  // On disk before the attach: a predecessor's bytes must never pass for ours.
  auto raise = [](TaskRecord&, AttemptRecord& record) { ++record.epoch; };
  auto raised = co_await attempt.task.try_update(make_change(raise));
  if (!raised) co_return raised;
  auto carrier = co_await attempt.services.runtime.channel(attempt.sandbox(), deadline);
  if (!carrier) co_return fail_with(std::move(carrier));
  const AttemptRecord& record = attempt.task.attempt();
  attempt.carriers.spawn("conversation",
                         attempt.conversation.serve(std::move(*carrier), record.epoch, record.instance));
  co_return Result<>{};
}

Async<> await_hello(Attempt& attempt, Deadline deadline) {
  const Conversation& conversation = attempt.conversation;
  while (!conversation.connected()) {
    if (conversation.is_foreign()) {
      co_return fail(ErrorCode::conflict,
                     "another runner instance answers in sandbox " + attempt.sandbox().str());
    }
    if (attempt.carriers.running() == 0)
      co_return fail(ErrorCode::engine_unreachable, "the carrier was lost before the hello");
    if (attempt.task.stop_wanted()) co_return fail(ErrorCode::cancelled, "wanted to end before the hello");
    if (deadline.passed())
      co_return fail(ErrorCode::deadline_exceeded, "the runner did not say hello in time");
    co_await attempt.task.wake().wait(deadline.within(kLongestWait));
  }
  co_return Result<>{};
}

asio::awaitable<void> close_carrier(Attempt& attempt) {
  attempt.conversation.close();
  attempt.carriers.cancel();
  co_await attempt.carriers.drain();
}

}  // namespace mayfly

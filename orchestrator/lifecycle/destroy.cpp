#include "lifecycle/destroy.hpp"

#include <algorithm>

#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

constexpr Millis kRelease{1'000};
constexpr Millis kRemove{30'000};
constexpr Millis kFirstBackoff{500};
constexpr Millis kLongestBackoff{30'000};

}  // namespace

asio::awaitable<void> release(Attempt& attempt) {
  const Deadline deadline = Deadline::in(kRelease);
  if (attempt.conversation.connected()) {
    auto sent = co_await attempt.conversation.send(std::string(channel::kRelease), std::string(),
                                                   std::string(), deadline);
    // The runner exits when it has read it: the carrier's end is the answer.
    while (sent && attempt.carriers.running() > 0 && !deadline.passed())
      co_await attempt.task.wake().wait(deadline);
  }
  co_await close_carrier(attempt);
}

asio::awaitable<void> destroy(LiveTask& task, Services& services) {
  const SandboxId sandbox = task.attempt().sandbox;
  for (Millis backoff = kFirstBackoff;; backoff = std::min(2 * backoff, kLongestBackoff)) {
    auto gone = co_await services.runtime.destroy(sandbox, Deadline::in(kRemove));
    if (gone) break;
    if (gone.error().code != ErrorCode::cancelled) {  // by a shutdown, of which the wait below hears
      services.log.warn(
          "lifecycle", "a sandbox could not be removed; trying again",
          {{"task_id", task.id().str()}, {"sandbox", sandbox.str()}, {"error", gone.error().message}});
    }
    co_await sleep_until(Deadline::in(backoff));
  }
  const auto verdict = task.record().times.verdict;
  const WallTime now = services.clock.wall();
  auto apply = [now](TaskRecord& record, AttemptRecord& attempt) {
    record.cleanup_pending = false;
    if (is_terminal(record.state)) record.times.destroyed = now;
    attempt.state = AttemptState::reaped;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "sandbox.destroyed", .data = Json{{"attempt", task.attempt().number}}});
  co_await task.update(make_change(apply, std::move(events)));
  if (!verdict) co_return;
  services.metrics.observe("mayfly_task_phase_seconds", std::chrono::duration<double>(now - *verdict).count(),
                           {{"phase", "destroy"}});
}

}  // namespace mayfly

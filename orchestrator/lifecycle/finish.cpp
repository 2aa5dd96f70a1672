#include "lifecycle/finish.hpp"

#include <algorithm>

#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

constexpr Millis kFirstBackoff{200};
constexpr Millis kLongestBackoff{5000};

// A log that cannot be made durable now (our disk is full) is tried again: a verdict must not go before its
// log.
asio::awaitable<void> sync_log(Services& services, LogWriter& writer, const TaskId& id,
                               const std::optional<std::string>& gap) {
  for (Millis backoff = kFirstBackoff;; backoff = std::min(2 * backoff, kLongestBackoff)) {
    Result<> done;
    if (gap) {
      std::vector<LogRecord> records(1);
      records.front() = {.number = 0,
                         .kind = LogKind::gap,
                         .at = services.clock.wall(),
                         .offset = 0,
                         .data = dump_json(Json{{"reason", *gap}})};
      done = co_await writer.append(std::move(records), LogDurability::disk);
    } else {
      done = co_await writer.sync();
    }
    if (done) co_return;
    services.log.error("lifecycle", "a log could not be synced; trying again",
                       {{"task_id", id.str()}, {"error", done.error().message}});
    co_await sleep_until(Deadline::in(backoff));
  }
}

Json event_of(const Verdict& verdict) {
  Json data{
      {"state", name_of(verdict.state)}, {"reason", name_of(verdict.reason)}, {"message", verdict.message}};
  data["exit_code"] = verdict.exit_code ? Json(*verdict.exit_code) : Json();
  data["signal"] = verdict.signal ? Json(*verdict.signal) : Json();
  return data;
}

void observe_phases(Metrics& metrics, const PhaseTimes& times) {
  const auto observe = [&](const char* phase, const std::optional<WallTime>& from,
                           const std::optional<WallTime>& to) {
    if (!from || !to) return;
    metrics.observe("mayfly_task_phase_seconds", std::chrono::duration<double>(*to - *from).count(),
                    {{"phase", phase}});
  };
  observe("queue", times.submitted, times.scheduled);
  observe("prepare", times.scheduled, times.prepared);
  observe("start", times.prepared, times.bound);
  observe("first_output", times.bound, times.first_output);
  observe("run", times.bound, times.ended);
  observe("collect", times.ended, times.verdict);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Verdict judge(const channel::Ended& ended, const Collected& collected, Reason first_cause) {
  Verdict verdict = decide_verdict(ended.end, first_cause);
  if (!ended.message.empty()) verdict.message += (verdict.message.empty() ? "" : ": ") + ended.message;
  if (verdict.state != TaskState::succeeded) {
    if (!collected.problem.empty())
      verdict.message += (verdict.message.empty() ? "" : "; ") + collected.problem;
    return verdict;
  }
  if (!collected.problem.empty()) {
    const Verdict infra = decide_verdict_without_end(collected.reason, collected.problem);
    verdict.state = infra.state;
    verdict.reason = collected.reason;
    verdict.message = collected.problem;
  } else if (!collected.missing.empty()) {
    verdict.state = TaskState::failed;
    verdict.reason = Reason::output_missing;
    verdict.message = "declared outputs are not there as regular files: " + list_of(collected.missing);
  }
  return verdict;
}

asio::awaitable<void> seal_log(Services& services, TaskId id) {
  auto sealed = co_await services.logs.seal(id);
  if (!sealed) {
    services.log.error("lifecycle", "a log could not be sealed",
                       {{"task_id", id.str()}, {"error", sealed.error().message}});
  }
}

asio::awaitable<void> finish(LiveTask& task, Services& services, LogWriter* writer, Verdict verdict,
                             Collected collected, std::optional<std::string> gap) {
  if (writer != nullptr) co_await sync_log(services, *writer, task.id(), gap);
  if (!collected.artifacts.empty()) {
    auto saved = co_await services.store.save_artifacts(task.id(), collected.artifacts);
    while (!saved) {
      services.log.error("lifecycle", "artifacts could not be recorded; trying again",
                         {{"error", saved.error().message}});
      co_await sleep_until(Deadline::in(kLongestBackoff));
      saved = co_await services.store.save_artifacts(task.id(), collected.artifacts);
    }
  }
  const bool has_sandbox = !task.attempt().id.empty();
  auto apply = [&verdict, has_sandbox, now = services.clock.wall()](TaskRecord& record,
                                                                    AttemptRecord& attempt) {
    record.state = verdict.state;
    record.reason = verdict.reason;
    record.exit_code = verdict.exit_code;
    record.signal = verdict.signal;
    record.message = verdict.message;
    record.pending_reason.clear();
    record.times.verdict = now;
    if (!record.times.ended) record.times.ended = now;
    record.cleanup_pending = has_sandbox;
    attempt.state = AttemptState::exited;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "task.ended", .data = event_of(verdict)});
  co_await task.update(make_change(apply, std::move(events)));
  // Only now: a log that is sealed is never opened for writing again.
  if (writer != nullptr) writer->close();
  co_await seal_log(services, task.id());
  observe_phases(services.metrics, task.record().times);
}

}  // namespace mayfly

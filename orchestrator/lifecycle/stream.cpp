#include "lifecycle/stream.hpp"

#include <algorithm>

#include "lifecycle/stream_decision.hpp"

namespace mayfly {
namespace {

constexpr Millis kEngineCall{5'000};
constexpr Millis kRetryFirst{200};
constexpr Millis kRetryMost{5'000};
constexpr std::size_t kSamplesPerSave = 5;

// The performing side: holds what the decision is made from, and does what it says.
class Streamer {
 public:
  explicit Streamer(Attempt& attempt) : attempt_(attempt) {
    state_.grace = attempt.task.record().timeouts.stop;
    state_.total = attempt.total.when();
    state_.carrier_since = now();
    // What an earlier process has told is not told again.
    reported_start_ = attempt.task.record().times.bound.has_value();
    reported_output_ = attempt.task.record().times.first_output.has_value();
  }
  Step<channel::Ended> run();

 private:
  MonoTime now() const { return attempt_.services.clock.mono(); }
  void look();
  asio::awaitable<void> report();
  asio::awaitable<std::optional<Failure>> perform(StreamDecision decision);
  asio::awaitable<void> send_stop();
  asio::awaitable<void> kill();
  asio::awaitable<std::optional<Failure>> reconnect();
  Failure explain_exit(const SandboxStatus& status) const;
  void back_off();

  Attempt& attempt_;
  StreamState state_;
  Millis backoff_ = kRetryFirst;
  bool reported_start_ = false;
  bool reported_output_ = false;
  std::size_t reported_limits_ = 0;
  std::vector<UsageSample> samples_;
};

void Streamer::look() {
  const Conversation& conversation = attempt_.conversation;
  state_.ended = conversation.view().ended.has_value();
  state_.stop_wanted = attempt_.task.stop_wanted();
  if (state_.stop_wanted && !state_.stop_wanted_since) state_.stop_wanted_since = now();
  state_.connected = conversation.connected();
  state_.serving = attempt_.carriers.running() > 0;
  state_.last_heard = conversation.view().last_heard;
  if (state_.connected) backoff_ = kRetryFirst;
}

// What a user wants to see while it happens: started, first output, limits hit, usage.
asio::awaitable<void> Streamer::report() {
  Conversation& conversation = attempt_.conversation;
  const RunnerView& view = conversation.view();
  const bool start = view.started && !reported_start_;
  const bool output = view.has_output && !reported_output_;
  std::vector<LimitHit> hits(view.limits_hit.begin() + static_cast<std::ptrdiff_t>(reported_limits_),
                             view.limits_hit.end());
  const std::vector<LimitHit>& known = attempt_.task.record().limits_hit;
  std::erase_if(hits, [&known](LimitHit hit) { return std::ranges::find(known, hit) != known.end(); });
  // A cut log that ends the task is its reason, not a limit that it went on after.
  if (attempt_.task.record().spec.on_log_limit == OnLogLimit::end_task)
    std::erase(hits, LimitHit::log_truncated);
  if (start || output || !hits.empty()) {
    reported_start_ |= start;
    reported_output_ |= output;
    reported_limits_ = view.limits_hit.size();
    auto apply = [start, output, hits, usage = view.usage, at = attempt_.services.clock.wall()](
                     TaskRecord& task, AttemptRecord& tried) {
      if (start && may_become(task.state, TaskState::running)) task.state = TaskState::running;
      if (start) tried.state = AttemptState::running;
      if (start && !task.times.bound) task.times.bound = at;
      if (output && !task.times.first_output) task.times.first_output = at;
      for (const LimitHit hit : hits) {
        if (std::ranges::find(task.limits_hit, hit) == task.limits_hit.end()) task.limits_hit.push_back(hit);
      }
      if (usage != Usage{}) task.usage = usage;
    };
    std::vector<NewEvent> events;
    if (start)
      events.push_back({.type = "task.running", .data = Json{{"attempt", attempt_.task.attempt().number}}});
    if (output) events.push_back({.type = "task.first_output", .data = Json::object()});
    for (const LimitHit hit : hits)
      events.push_back({.type = "task.limit_hit", .data = Json{{"limit", name_of(hit)}}});
    co_await attempt_.task.update(make_change(apply, std::move(events)));
  }
  for (const UsageSample& sample : conversation.take_samples()) samples_.push_back(sample);
  if (samples_.size() < kSamplesPerSave && !state_.ended) co_return;
  auto samples = std::exchange(samples_, {});
  if (samples.empty()) co_return;
  auto saved = co_await attempt_.services.store.add_usage_samples(attempt_.task.id(), std::move(samples));
  if (!saved)
    attempt_.services.log.warn("lifecycle", "usage samples were lost", {{"error", saved.error().message}});
}

asio::awaitable<void> Streamer::send_stop() {
  const TaskRecord& task = attempt_.task.record();
  const channel::Stop stop{.reason = task.desired_reason,
                           .kill = task.desired == Desired::kill,
                           .grace_ms = task.timeouts.stop.count()};
  state_.stop_sent = now();
  auto apply = [](TaskRecord& record, AttemptRecord& tried) {
    if (may_become(record.state, TaskState::stopping)) record.state = TaskState::stopping;
    tried.state = AttemptState::stopping;
  };
  // A sandbox of little processor must still answer (measured: 8 s with 0.1 cpu and 200 busy processes).
  constexpr std::int64_t kEnough = 1000;
  if (task.granted.millicpus < kEnough) {
    (void)co_await attempt_.services.runtime.raise_cpu(attempt_.sandbox(), kEnough,
                                                       Deadline::in(kEngineCall));
  }
  co_await attempt_.task.update(make_change(apply));
  auto sent = co_await attempt_.conversation.send(std::string(channel::kStop), stop.members(), std::string(),
                                                  Deadline::in(kEngineCall));
  if (!sent) state_.stop_sent.reset();
}

// An engine that does not answer a kill within two seconds may be wedged by our own attach: close it and ask
// again.
asio::awaitable<void> Streamer::kill() {
  constexpr Millis kPatience{2'000};
  Runtime& runtime = attempt_.services.runtime;
  auto killed = co_await runtime.signal(attempt_.sandbox(), Signal::kill, Deadline::in(kPatience));
  if (!killed) {
    co_await close_carrier(attempt_);
    killed = co_await runtime.signal(attempt_.sandbox(), Signal::kill, Deadline::in(kEngineCall));
  }
  state_.kill_sent = now();
}

Failure Streamer::explain_exit(const SandboxStatus& status) const {
  if (state_.stop_wanted) return stopped(attempt_.task.stop_reason());
  const std::string code = status.exit_code ? std::to_string(*status.exit_code) : "unknown";
  const std::string how =
      "the sandbox ended with code " + code + " before its runner reported; " + status.detail;
  constexpr int kKilled = 137;
  if (status.exit_code == kKilled && status.oom_killed) {
    return {.reason = Reason::oom_killed, .message = how, .may_retry = false};
  }
  const bool killed = status.exit_code == kKilled;
  return {
      .reason = killed ? Reason::killed_externally : Reason::runner_lost, .message = how, .may_retry = false};
}

void Streamer::back_off() {
  state_.retry_not_before = now() + backoff_;
  backoff_ = std::min(2 * backoff_, kRetryMost);
}

// The carrier is gone: because the sandbox ended, because the engine did, or just so.
asio::awaitable<std::optional<Failure>> Streamer::reconnect() {
  auto status = co_await attempt_.services.runtime.inspect(attempt_.sandbox(), Deadline::in(kEngineCall));
  if (!status && status.error().code == ErrorCode::not_found) {
    if (state_.stop_wanted) co_return stopped(attempt_.task.stop_reason());
    co_return Failure{.reason = Reason::container_vanished,
                      .message = "sandbox " + attempt_.sandbox().str() + " was removed by somebody else"};
  }
  if (status && status->state == SandboxState::exited) co_return explain_exit(*status);
  back_off();
  if (!status) co_return std::nullopt;
  attempt_.services.metrics.add("mayfly_channel_reattaches_total");
  auto opened = co_await open_carrier(attempt_, Deadline::in(kEngineCall));
  state_.carrier_since = now();
  if (!opened) {
    attempt_.services.log.warn("lifecycle", "no new carrier yet",
                               {{"task_id", attempt_.task.id().str()}, {"error", opened.error().message}});
  }
  co_return std::nullopt;
}

asio::awaitable<std::optional<Failure>> Streamer::perform(StreamDecision decision) {
  switch (decision.action) {
    case StreamAction::finish:
      break;
    case StreamAction::want_end:
      co_await attempt_.task.update(want_end(Reason::total_timeout));
      break;
    case StreamAction::send_stop:
      co_await send_stop();
      break;
    case StreamAction::kill:
      co_await kill();
      break;
    case StreamAction::give_up:
      co_return stopped(attempt_.task.stop_reason());
    case StreamAction::reconnect:
      co_return co_await reconnect();
    case StreamAction::drop:
      co_await close_carrier(attempt_);
      break;
    case StreamAction::wait:
      co_await attempt_.task.wake().wait(Deadline::at(decision.until));
      break;
  }
  co_return std::nullopt;
}

Step<channel::Ended> Streamer::run() {
  for (;;) {
    look();
    co_await report();
    look();
    if (attempt_.conversation.is_foreign()) {
      co_return tl::unexpected(Failure{.reason = Reason::container_restarted,
                                       .message = "another runner instance answers in the sandbox"});
    }
    if (attempt_.conversation.is_unbound()) {
      co_return tl::unexpected(Failure{.reason = Reason::engine_unreachable,
                                       .message = "the bind never reached the runner",
                                       .may_retry = true});
    }
    const StreamDecision decision = decide_next(state_, now());
    if (decision.action == StreamAction::finish) {
      // What came while the last report was being saved; nothing numbered follows the end.
      co_await report();
      co_return *attempt_.conversation.view().ended;
    }
    auto failure = co_await perform(decision);
    if (failure) co_return tl::unexpected(std::move(*failure));
  }
}

}  // namespace

Step<channel::Ended> stream(Attempt& attempt) {
  Streamer streamer(attempt);
  co_return co_await streamer.run();
}

}  // namespace mayfly

#include "lifecycle/adopt.hpp"

namespace mayfly {
namespace {

constexpr Millis kPatience = std::chrono::seconds(20);
constexpr Millis kInspect = std::chrono::seconds(5);
constexpr std::size_t kReadAtOnce = 1U << 20U;

void learn(RunnerView& view, const LogRecord& record) {
  if (record.kind == LogKind::out || record.kind == LogKind::err) {
    view.has_output = true;
    return;
  }
  const auto message = parse_json(record.data);
  if (!message || !message->is_object() || !message->contains("method")) return;
  const Json params = message->value("params", Json::object());
  const std::string method = message->value("method", std::string());
  if (method == channel::kStarted) view.started = true;
  if (method == channel::kLimitHit) {
    if (const auto hit = channel::parse_limit_hit(params)) view.limits_hit.push_back(hit->limit);
  }
  if (method == channel::kTruncated) view.limits_hit.push_back(LimitHit::log_truncated);
  if (method == channel::kEnded) {
    if (auto ended = channel::parse_ended(params)) view.ended = std::move(*ended);
  }
}

Async<RunnerView> read_view(Attempt& attempt) {
  RunnerView view;
  view.last_heard = attempt.services.clock.mono();
  auto reader = co_await attempt.services.logs.open_events(attempt.task.id(), attempt.task.attempt().number);
  if (!reader) co_return fail_with(std::move(reader));
  for (;;) {
    auto records = co_await (*reader)->next(kReadAtOnce, Deadline::in(Millis(0)));
    if (!records && records.error().code == ErrorCode::deadline_exceeded) break;
    if (!records) co_return fail_with(std::move(records));
    if (records->empty()) break;
    for (const LogRecord& record : *records) learn(view, record);
  }
  co_return view;
}

}  // namespace

Step<> adopt(Attempt& attempt) {
  auto view = co_await read_view(attempt);
  if (!view) co_return tl::unexpected(failure_of(view.error(), Phase::run));
  attempt.conversation.restore(std::move(*view));
  // An attach to a container that has ended says nothing and does not end: what became of it is stream's to
  // find.
  auto status = co_await attempt.services.runtime.inspect(attempt.sandbox(), Deadline::in(kInspect));
  const bool is_over =
      status ? status->state == SandboxState::exited : status.error().code == ErrorCode::not_found;
  if (is_over) co_return tl::expected<void, Failure>{};
  // A carrier that fails now is stream's to open again.
  const Deadline deadline = Deadline::in(kPatience);
  auto opened = co_await open_carrier(attempt, deadline);
  if (!opened) co_return tl::expected<void, Failure>{};
  auto hello = co_await await_hello(attempt, deadline);
  if (hello && attempt.conversation.hello()->attempt.empty()) {
    co_return tl::unexpected(Failure{
        .reason = Reason::engine_unreachable, .message = "the runner was never bound", .may_retry = true});
  }
  co_return tl::expected<void, Failure>{};
}

}  // namespace mayfly

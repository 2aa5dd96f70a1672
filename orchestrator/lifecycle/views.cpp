// What the API sees: the live record where there is one, the stored one elsewhere.
#include <algorithm>

#include "lifecycle/control_plane.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kEventsAtOnce = 500;
constexpr std::size_t kUsageSamples = 10'000;

tl::unexpected<Error> unknown_task(const TaskId& id) {
  return fail(ErrorCode::not_found, "no task " + id.str());
}

// A log that may not exist yet: its task has not started.
class PendingLogReader final : public LogReader {
 public:
  PendingLogReader(LogStore& logs, std::weak_ptr<LiveTask> task, TaskId id, LogStream stream,
                   std::uint64_t out_from, std::uint64_t err_from)
      : logs_(logs),
        task_(std::move(task)),
        id_(std::move(id)),
        stream_(stream),
        out_from_(out_from),
        err_from_(err_from) {}

  Async<std::vector<LogRecord>> next(std::size_t max_bytes, Deadline deadline) override {
    while (!reader_) {
      auto opened = co_await logs_.open_reader(id_, stream_, out_from_, err_from_);
      if (opened) {
        reader_ = std::move(*opened);
        break;
      }
      const auto task = task_.lock();
      if (opened.error().code != ErrorCode::not_found) co_return fail_with(std::move(opened));
      if (!task || is_terminal(task->record().state)) co_return std::vector<LogRecord>{};
      if (deadline.passed()) co_return fail(ErrorCode::deadline_exceeded, "no output yet");
      co_await task->changed().wait(deadline);
    }
    // Looked at before the read: what was written until then is found by it.
    const bool over = task_.expired();
    auto records = co_await reader_->next(max_bytes, over ? Deadline::in(Millis(0)) : deadline);
    // A task that is over and could not seal its log (the disk was full) has no more to say.
    if (!records && records.error().code == ErrorCode::deadline_exceeded && over)
      co_return std::vector<LogRecord>{};
    co_return records;
  }

 private:
  LogStore& logs_;
  std::weak_ptr<LiveTask> task_;
  TaskId id_;
  LogStream stream_;
  std::uint64_t out_from_, err_from_;
  std::unique_ptr<LogReader> reader_;
};

class StoredArtifactReader final : public ArtifactReader {
 public:
  explicit StoredArtifactReader(std::unique_ptr<StoredArtifact> stored) : stored_(std::move(stored)) {}
  Bytes size() const override { return stored_->size(); }
  Async<std::string> read(std::uint64_t offset, std::size_t max_bytes) override {
    return stored_->read(offset, max_bytes);
  }

 private:
  std::unique_ptr<StoredArtifact> stored_;
};

}  // namespace

ControlPlane::LivePtr ControlPlane::find_live(const TaskId& id) const {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : found->second;
}

TaskRecord ControlPlane::view_of(const LiveTask& task) const {
  TaskRecord record = task.record();
  if (record.state != TaskState::queued) return record;
  const auto position = scheduler_.position(record.id);
  const std::string place =
      position ? "place " + std::to_string(*position) + " of " + std::to_string(scheduler_.queued()) : "";
  if (!engine_up_) {
    record.pending_reason = "engine_unreachable: " + engine_trouble_ + (place.empty() ? "" : "; " + place);
  } else if (!place.empty()) {
    record.pending_reason = "waiting for capacity: " + place;
  }
  return record;
}

Async<TaskRecord> ControlPlane::get(TenantId tenant, TaskId id) {
  if (const auto live = find_live(id)) {
    if (live->record().tenant != tenant) co_return unknown_task(id);
    co_return view_of(*live);
  }
  auto stored = co_await services_.store.get_task(id);
  if (stored && stored->tenant != tenant) co_return unknown_task(id);
  co_return stored;
}

Async<TaskPage> ControlPlane::list(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) {
  auto page = co_await services_.store.list_tasks(std::move(filter), limit, std::move(before));
  if (!page) co_return page;
  for (TaskRecord& task : page->tasks) {
    const auto live = find_live(task.id);
    if (live && live->record().state == task.state) task = view_of(*live);
  }
  co_return page;
}

Async<std::vector<TaskEvent>> ControlPlane::events(TenantId tenant, TaskId id, std::uint64_t seq,
                                                   Deadline deadline) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  for (;;) {
    // Asked before the read: an event that is saved in between is found by the next round.
    const auto live = find_live(id);
    auto found = co_await services_.store.events_after(id, seq, kEventsAtOnce);
    if (!found || !found->empty() || !live) co_return found;
    if (deadline.passed()) co_return fail(ErrorCode::deadline_exceeded, "no new event");
    if (find_live(id) == live) co_await live->changed().wait(deadline.within(std::chrono::seconds(1)));
  }
}

Async<std::unique_ptr<LogReader>> ControlPlane::open_log(TenantId tenant, TaskId id, LogStream stream,
                                                         std::uint64_t out_from, std::uint64_t err_from) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  co_return std::make_unique<PendingLogReader>(services_.logs, find_live(id), id, stream, out_from, err_from);
}

Async<LogSize> ControlPlane::log_size(TenantId tenant, TaskId id) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  auto size = co_await services_.logs.size(id);
  if (!size && size.error().code == ErrorCode::not_found) {
    co_return LogSize{.out = 0, .err = 0, .complete = is_terminal(known->state)};
  }
  if (size && !find_live(id) && is_terminal(known->state)) size->complete = true;
  co_return size;
}

Async<std::vector<UsageSample>> ControlPlane::usage(TenantId tenant, TaskId id) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  co_return co_await services_.store.usage_of(id, kUsageSamples);
}

Async<std::vector<Artifact>> ControlPlane::artifacts(TenantId tenant, TaskId id) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  co_return co_await services_.store.artifacts_of(id);
}

Async<std::unique_ptr<ArtifactReader>> ControlPlane::open_artifact(TenantId tenant, TaskId id,
                                                                   std::string path) {
  auto known = co_await get(tenant, id);
  if (!known) co_return fail_with(std::move(known));
  auto stored = co_await services_.artifacts.open(id, std::move(path));
  if (!stored) co_return fail_with(std::move(stored));
  co_return std::make_unique<StoredArtifactReader>(std::move(*stored));
}

Readiness ControlPlane::readiness() const {
  Readiness readiness;
  readiness.checks.push_back({.name = "engine", .ok = engine_up_, .detail = engine_trouble_});
  readiness.checks.push_back({.name = "disk", .ok = !disk_low_, .detail = disk_detail_});
  readiness.checks.push_back(
      {.name = "accepting", .ok = !draining_, .detail = draining_ ? "the server is stopping" : ""});
  readiness.ready =
      std::ranges::all_of(readiness.checks, [](const Readiness::Check& check) { return check.ok; });
  return readiness;
}

}  // namespace mayfly

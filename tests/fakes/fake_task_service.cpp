#include "fakes/fake_task_service.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/digest.hpp"

namespace mayfly::test {
namespace {

const WallTime kNow{Millis(1'764'527'906'123)};

// Counts a waiting coroutine for as long as it waits, also when it is cancelled.
class Watch {
 public:
  explicit Watch(std::size_t& count) : count_(count) { ++count_; }
  ~Watch() { --count_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::size_t& count_;
};

class MemoryArtifact final : public ArtifactReader {
 public:
  explicit MemoryArtifact(std::string content) : content_(std::move(content)) {}
  Bytes size() const override { return {content_.size()}; }
  Async<std::string> read(std::uint64_t offset, std::size_t max_bytes) override {
    co_return offset < content_.size() ? content_.substr(offset, max_bytes) : std::string();
  }

 private:
  std::string content_;
};

bool has_labels(const TaskRecord& task, const TaskFilter& filter) {
  return std::all_of(filter.labels.begin(), filter.labels.end(), [&task](const auto& label) {
    const auto found = task.spec.labels.find(label.first);
    return found != task.spec.labels.end() && found->second == label.second;
  });
}

bool matches(const TaskRecord& task, const TaskFilter& filter) {
  if (filter.tenant && task.tenant != *filter.tenant) return false;
  const auto& states = filter.states;
  if (!states.empty() && std::find(states.begin(), states.end(), task.state) == states.end()) return false;
  if (filter.submitted_after && *task.times.submitted <= *filter.submitted_after) return false;
  if (filter.submitted_before && *task.times.submitted >= *filter.submitted_before) return false;
  return has_labels(task, filter);
}

}  // namespace

struct FakeTaskService::Task {
  explicit Task(const asio::any_io_executor& executor) : changed(executor) {}
  TaskRecord record;
  std::vector<TaskEvent> events;
  bool feed_ended = false;
  std::deque<LogRecord> log;
  LogSize log_size;
  std::optional<Error> log_failure;
  std::vector<UsageSample> usage;
  std::vector<Artifact> artifacts;
  std::map<std::string, std::string> contents;
  Notifier changed;
};

class FakeTaskService::Reader final : public LogReader {
 public:
  Reader(FakeTaskService& service, std::shared_ptr<Task> task, LogStream stream, std::uint64_t out_from,
         std::uint64_t err_from)
      : service_(service),
        task_(std::move(task)),
        stream_(stream),
        out_from_(out_from),
        err_from_(err_from) {}

  Async<std::vector<LogRecord>> next(std::size_t max_bytes, Deadline deadline) override {
    const Watch watch(service_.watching_);
    for (;;) {
      auto records = take(max_bytes);
      if (!records.empty() || task_->log_size.complete) co_return records;
      if (task_->log_failure) co_return tl::unexpected<Error>(*task_->log_failure);
      if (deadline.passed()) co_return fail(ErrorCode::deadline_exceeded, "no output yet");
      co_await task_->changed.wait(deadline);
    }
  }

 private:
  std::vector<LogRecord> take(std::size_t max_bytes) {
    std::vector<LogRecord> records;
    for (std::size_t bytes = 0; at_ < task_->log.size() && bytes < max_bytes; ++at_) {
      LogRecord record = task_->log[at_];
      if (!clip(record)) continue;
      bytes += record.data.size();
      service_.log_bytes_read_ += record.data.size();
      records.push_back(std::move(record));
    }
    return records;
  }

  // Whether something of it is wanted.
  bool clip(LogRecord& record) const {
    if (record.kind != LogKind::out && record.kind != LogKind::err) return true;
    const bool is_out = record.kind == LogKind::out;
    if (stream_ == (is_out ? LogStream::err : LogStream::out)) return false;
    const std::uint64_t from = is_out ? out_from_ : err_from_;
    if (record.offset + record.data.size() <= from) return false;
    if (record.offset < from) {
      record.data.erase(0, from - record.offset);
      record.offset = from;
    }
    return true;
  }

  FakeTaskService& service_;
  std::shared_ptr<Task> task_;
  LogStream stream_;
  std::uint64_t out_from_, err_from_;
  std::size_t at_ = 0;
};

FakeTaskService::FakeTaskService(asio::any_io_executor executor) : executor_(std::move(executor)) {
  readiness_.ready = true;
  readiness_.checks = {{.name = "engine", .ok = true, .detail = ""},
                       {.name = "disk", .ok = true, .detail = ""}};
}

FakeTaskService::~FakeTaskService() = default;

Result<void> FakeTaskService::enter() {
  ++calls_;
  if (!thrown_.empty()) throw std::runtime_error(thrown_);
  if (failure_) return tl::unexpected<Error>(*failure_);
  return {};
}

Result<FakeTaskService::Task*> FakeTaskService::find(const TenantId& tenant, const TaskId& id) {
  if (auto entered = enter(); !entered) return fail_with(std::move(entered));
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second->record.tenant != tenant) {
    return fail(ErrorCode::not_found, "no task " + id.str());
  }
  return found->second.get();
}

TaskRecord FakeTaskService::make_record(TenantId tenant, TaskSpec spec) const {
  TaskRecord record;
  record.id = make_id<TaskId>();
  record.tenant = std::move(tenant);
  record.spec = std::move(spec);
  record.granted = grant(record.limits);
  record.policy_version = "sha256:" + sha256_hex("fake");
  record.pending_reason = "waiting for capacity: place 1 of 1";
  record.times.submitted = kNow + Millis(tasks_.size());
  record.revision = 1;
  return record;
}

FakeTaskService::Task& FakeTaskService::insert(TaskRecord record) {
  auto task = std::make_shared<Task>(executor_);
  task->record = std::move(record);
  const TaskId id = task->record.id;
  tasks_[id] = task;
  add_event(id, "task.queued");
  return *task;
}

Async<InsertOutcome> FakeTaskService::submit(TenantId tenant, TaskSpec spec, std::optional<std::string> key) {
  if (auto entered = enter(); !entered) co_return fail_with(std::move(entered));
  const std::string slot = tenant.str() + '\n' + key.value_or("");
  const std::string fingerprint = canonical_text(spec);
  if (const auto known = keys_.find(slot); key && known != keys_.end()) {
    const auto& [old_fingerprint, id] = known->second;
    if (old_fingerprint != fingerprint)
      co_return fail(ErrorCode::idempotency_mismatch, "the key belongs to another body");
    co_return InsertOutcome{.task = tasks_.at(id)->record, .replayed = true};
  }
  ++submissions_;
  const Task& task = insert(make_record(std::move(tenant), std::move(spec)));
  if (key) keys_.emplace(slot, std::pair(fingerprint, task.record.id));
  co_return InsertOutcome{.task = task.record, .replayed = false};
}

Async<TaskRecord> FakeTaskService::dry_run(TenantId tenant, TaskSpec spec) {
  if (auto entered = enter(); !entered) co_return fail_with(std::move(entered));
  co_return make_record(std::move(tenant), std::move(spec));
}

Async<TaskRecord> FakeTaskService::cancel(TenantId tenant, TaskId id) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  TaskRecord& record = (*task)->record;
  if (!is_terminal(record.state)) end_task(id, TaskState::cancelled, Reason::cancelled_by_user, std::nullopt);
  co_return record;
}

Async<TaskRecord> FakeTaskService::get(TenantId tenant, TaskId id) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  co_return (*task)->record;
}

Async<TaskPage> FakeTaskService::list(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) {
  if (auto entered = enter(); !entered) co_return fail_with(std::move(entered));
  TaskPage page;
  for (auto task = tasks_.rbegin(); task != tasks_.rend(); ++task) {
    if ((before && !(task->first < *before)) || !matches(task->second->record, filter)) continue;
    if (page.tasks.size() == limit) {
      page.next = page.tasks.back().id;
      break;
    }
    page.tasks.push_back(task->second->record);
  }
  co_return page;
}

Async<std::vector<TaskEvent>> FakeTaskService::events(TenantId tenant, TaskId id, std::uint64_t seq,
                                                      Deadline deadline) {
  auto found = find(tenant, id);
  if (!found) co_return fail_with(std::move(found));
  const std::shared_ptr<Task> task = tasks_.at(id);
  const Watch watch(watching_);
  for (;;) {
    std::vector<TaskEvent> events;
    for (const TaskEvent& event : task->events) {
      if (event.seq > seq) events.push_back(event);
    }
    if (!events.empty() || task->feed_ended) co_return events;
    if (deadline.passed()) co_return fail(ErrorCode::deadline_exceeded, "no new event");
    co_await task->changed.wait(deadline);
  }
}

Async<std::unique_ptr<LogReader>> FakeTaskService::open_log(TenantId tenant, TaskId id, LogStream stream,
                                                            std::uint64_t out_from, std::uint64_t err_from) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  co_return std::make_unique<Reader>(*this, tasks_.at(id), stream, out_from, err_from);
}

Async<LogSize> FakeTaskService::log_size(TenantId tenant, TaskId id) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  co_return (*task)->log_size;
}

Async<std::vector<UsageSample>> FakeTaskService::usage(TenantId tenant, TaskId id) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  co_return (*task)->usage;
}

Async<std::vector<Artifact>> FakeTaskService::artifacts(TenantId tenant, TaskId id) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  co_return (*task)->artifacts;
}

Async<std::unique_ptr<ArtifactReader>> FakeTaskService::open_artifact(TenantId tenant, TaskId id,
                                                                      std::string path) {
  auto task = find(tenant, id);
  if (!task) co_return fail_with(std::move(task));
  const auto content = (*task)->contents.find(path);
  if (content == (*task)->contents.end()) co_return fail(ErrorCode::not_found, "no artifact " + path);
  co_return std::make_unique<MemoryArtifact>(content->second);
}

TaskId FakeTaskService::add_task(TaskSpec spec, std::string tenant) {
  return insert(make_record(TenantId(std::move(tenant)), std::move(spec))).record.id;
}

void FakeTaskService::add_event(const TaskId& id, std::string type, Json data) {
  Task& task = *tasks_.at(id);
  task.events.push_back(
      {.seq = task.events.size() + 1, .at = kNow, .type = std::move(type), .data = std::move(data)});
  task.changed.notify();
}

void FakeTaskService::add_output(const TaskId& id, LogKind kind, std::string data) {
  Task& task = *tasks_.at(id);
  LogRecord record{
      .number = task.log.size() + 1, .kind = kind, .at = kNow, .offset = 0, .data = std::move(data)};
  if (kind == LogKind::out || kind == LogKind::err) {
    std::uint64_t& size = kind == LogKind::out ? task.log_size.out : task.log_size.err;
    record.offset = size;
    size += record.data.size();
  }
  task.log.push_back(std::move(record));
  task.changed.notify();
}

void FakeTaskService::complete_log(const TaskId& id) {
  tasks_.at(id)->log_size.complete = true;
  tasks_.at(id)->changed.notify();
}

void FakeTaskService::fail_log(const TaskId& id, Error error) {
  tasks_.at(id)->log_failure = std::move(error);
  tasks_.at(id)->changed.notify();
}

void FakeTaskService::end_task(const TaskId& id, TaskState state, Reason reason,
                               std::optional<int> exit_code) {
  TaskRecord& task = tasks_.at(id)->record;
  task.state = state;
  task.reason = reason;
  task.exit_code = exit_code;
  task.pending_reason.clear();
  task.times.verdict = kNow + Millis(1500);
  ++task.revision;
  add_event(id, "task.ended", Json{{"state", name_of(state)}});
}

void FakeTaskService::end_feed(const TaskId& id) {
  tasks_.at(id)->feed_ended = true;
  tasks_.at(id)->changed.notify();
}

void FakeTaskService::add_artifact(const TaskId& id, std::string path, std::string content) {
  Task& task = *tasks_.at(id);
  task.artifacts.push_back(
      {.path = path, .size = {content.size()}, .sha256 = sha256_hex(content), .mode = 0644});
  task.contents[std::move(path)] = std::move(content);
}

void FakeTaskService::add_usage(const TaskId& id, UsageSample sample) {
  tasks_.at(id)->usage.push_back(sample);
}

TaskRecord& FakeTaskService::record(const TaskId& id) {
  return tasks_.at(id)->record;
}

TaskSpec make_spec(std::string image, std::vector<std::string> command) {
  TaskSpec spec;
  spec.image = std::move(image);
  spec.command = std::move(command);
  return spec;
}

}  // namespace mayfly::test

// A control plane in memory, for tests of what stands on TaskService (http, cli): tasks stay where the test
// puts them. All calls from one thread, the I/O thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/notifier.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::test {

class FakeTaskService final : public TaskService {
 public:
  explicit FakeTaskService(asio::any_io_executor executor);
  ~FakeTaskService() override;

  Async<InsertOutcome> submit(TenantId tenant, TaskSpec spec,
                              std::optional<std::string> idempotency_key) override;
  Async<TaskRecord> dry_run(TenantId tenant, TaskSpec spec) override;
  Async<TaskRecord> cancel(TenantId tenant, TaskId id) override;
  Async<TaskRecord> get(TenantId tenant, TaskId id) override;
  Async<TaskPage> list(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) override;
  Async<std::vector<TaskEvent>> events(TenantId tenant, TaskId id, std::uint64_t seq,
                                       Deadline deadline) override;
  Async<std::unique_ptr<LogReader>> open_log(TenantId tenant, TaskId id, LogStream stream,
                                             std::uint64_t out_from, std::uint64_t err_from) override;
  Async<LogSize> log_size(TenantId tenant, TaskId id) override;
  Async<std::vector<UsageSample>> usage(TenantId tenant, TaskId id) override;
  Async<std::vector<Artifact>> artifacts(TenantId tenant, TaskId id) override;
  Async<std::unique_ptr<ArtifactReader>> open_artifact(TenantId tenant, TaskId id, std::string path) override;
  Readiness readiness() const override { return readiness_; }
  std::optional<Capabilities> capabilities() const override { return capabilities_; }

  // What the test says has happened.
  TaskId add_task(TaskSpec spec, std::string tenant = "default");
  void add_event(const TaskId& id, std::string type, Json data = Json::object());
  void add_output(const TaskId& id, LogKind kind, std::string data);
  void complete_log(const TaskId& id);
  void fail_log(const TaskId& id, Error error);  // behind what was written so far
  void end_task(const TaskId& id, TaskState state, Reason reason, std::optional<int> exit_code);
  void end_feed(const TaskId& id);
  void add_artifact(const TaskId& id, std::string path, std::string content);
  void add_usage(const TaskId& id, UsageSample sample);
  TaskRecord& record(const TaskId& id);
  void set_readiness(Readiness readiness) { readiness_ = std::move(readiness); }
  void set_capabilities(Capabilities capabilities) { capabilities_ = std::move(capabilities); }
  // Every following call fails so, or throws std::runtime_error with this text; nothing: works again.
  void fail_with_error(std::optional<Error> error) { failure_ = std::move(error); }
  void throw_text(std::string text) { thrown_ = std::move(text); }

  // What the test may ask afterwards.
  std::size_t submissions() const { return submissions_; }  // that made a task
  std::size_t calls() const { return calls_; }              // of any kind that reached the service
  std::size_t watching() const { return watching_; }        // coroutines that wait for events or output now
  std::uint64_t log_bytes_read() const { return log_bytes_read_; }

 private:
  struct Task;
  class Reader;

  Result<void> enter();
  Result<Task*> find(const TenantId& tenant, const TaskId& id);
  TaskRecord make_record(TenantId tenant, TaskSpec spec) const;
  Task& insert(TaskRecord record);

  asio::any_io_executor executor_;
  std::map<TaskId, std::shared_ptr<Task>> tasks_;
  std::map<std::string, std::pair<std::string, TaskId>> keys_;  // tenant and key → canonical spec and task
  Readiness readiness_;
  std::optional<Capabilities> capabilities_;
  std::optional<Error> failure_;
  std::string thrown_;
  std::size_t submissions_ = 0;
  std::size_t calls_ = 0;
  std::size_t watching_ = 0;
  std::uint64_t log_bytes_read_ = 0;
};

// The least spec that is one.
TaskSpec make_spec(std::string image = "busybox:1", std::vector<std::string> command = {"true"});

}  // namespace mayfly::test

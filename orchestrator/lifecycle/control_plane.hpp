// The control plane in one process: accepts tasks, decides when each starts, runs them, and knows all that
// have not ended. `serve` and `run` build the same one (app/). All calls from the I/O thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "async/scope.hpp"
#include "lifecycle/live_task.hpp"
#include "lifecycle/scheduler.hpp"
#include "lifecycle/task_service.hpp"
#include "policy/policy.hpp"

namespace mayfly {

struct ControlPlaneConfig {
  std::filesystem::path data_dir;  // whose free space is watched
  Millis engine_probe{5'000};
  Millis reap_every{60'000};
  Millis housekeeping_every{60'000};
  Millis disk_probe{5'000};
};

class ControlPlane final : public TaskService {
 public:
  ControlPlane(Services services, std::shared_ptr<const Policy> policy, ControlPlaneConfig config);
  ~ControlPlane() override;

  // Reads what an earlier process left, and begins all background work. Once.
  Async<> start();
  // Stops admitting; readiness says so. Running tasks go on.
  void drain();
  // Completes when no task is running or cleaning up (queued ones stay queued). After drain.
  asio::awaitable<void> idle();
  // Completes when the engine's state was looked at again, or at the deadline.
  asio::awaitable<void> wait_for_engine(Deadline deadline) { co_await schedule_due_.wait(deadline); }

  // Whether the first connection was tried, with whatever result.
  bool engine_tried() const { return engine_tried_; }

  // Ends all background work and leaves running sandboxes as they are, for the next process.
  asio::awaitable<void> stop();

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
  Readiness readiness() const override;
  std::optional<Capabilities> capabilities() const override { return capabilities_; }

 private:
  using LivePtr = std::shared_ptr<LiveTask>;

  // Runs one of the endless loops below, and begins it anew after an exception, which is a bug and logged.
  using Loop = asio::awaitable<void> (ControlPlane::*)();
  asio::awaitable<void> keep_going(std::string name, Loop loop);
  // submit.cpp
  Result<Admission> decide(const TaskSpec& spec) const;
  Result<> check_open() const;
  TaskRecord make_record(TenantId tenant, TaskSpec spec, const Admission& admission) const;
  // schedule.cpp
  void enqueue(const LivePtr& task);
  asio::awaitable<void> schedule_loop();
  asio::awaitable<void> start_task(LivePtr task);
  enum class After { over, queue_again };
  asio::awaitable<void> leave_node(LivePtr task, After after);
  asio::awaitable<void> continue_task(LivePtr task);  // after a restart
  asio::awaitable<void> end_queued(LivePtr task, Reason reason, std::string message);
  asio::awaitable<void> expire_queued();
  void forget(const LivePtr& task);
  void update_gauges();
  // recover.cpp
  Async<> recover();
  Async<> take_back(TaskRecord record);
  // engine_watch.cpp
  asio::awaitable<void> engine_loop();
  void take_capabilities(Capabilities found);
  // reap_orphans.cpp
  asio::awaitable<void> reap_loop();
  asio::awaitable<void> reap_once();
  // housekeeping.cpp
  asio::awaitable<void> disk_loop();
  asio::awaitable<void> housekeeping_loop();
  asio::awaitable<void> remove_expired();
  asio::awaitable<std::size_t> remove_tasks(std::vector<TaskId> ids);
  // views.cpp
  LivePtr find_live(const TaskId& id) const;
  TaskRecord view_of(const LiveTask& task) const;

  Services services_;
  std::shared_ptr<const Policy> policy_;
  ControlPlaneConfig config_;
  Scope background_;
  Scope tasks_;
  Scheduler scheduler_;
  Notifier schedule_due_;
  std::unordered_map<TaskId, LivePtr> live_;
  std::set<std::pair<MonoTime, TaskId>> queue_deadlines_;
  std::optional<Capabilities> capabilities_;
  bool engine_up_ = false;
  bool engine_tried_ = false;
  std::string engine_trouble_ = "not yet connected";
  bool disk_low_ = false;
  std::string disk_detail_;
  bool draining_ = false;
};

}  // namespace mayfly

// What the API and the command line may ask of the control plane: the whole surface of lifecycle for http and
// cli. All calls from the I/O thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/task_types.hpp"
#include "log_store/log_store.hpp"
#include "runtime/runtime.hpp"
#include "store/task_store.hpp"
#include "task/task_record.hpp"

namespace mayfly {

// An open artifact: read in pieces, in order.
class ArtifactReader {
 public:
  virtual ~ArtifactReader() = default;
  virtual Bytes size() const = 0;
  // At most `max_bytes` from `offset`; empty at the end.
  virtual Async<std::string> read(std::uint64_t offset, std::size_t max_bytes) = 0;
};

struct Readiness {
  bool ready = false;
  struct Check {
    std::string name;  // engine, store, disk, draining
    bool ok = false;
    std::string detail;
  };
  std::vector<Check> checks;
};

class TaskService {
 public:
  virtual ~TaskService() = default;

  // 201 may be sent when this returns: the task is on disk. Errors: policy_denied, rate_limited (queue full),
  // unavailable (draining), disk_full, idempotency_mismatch, conflict (the same key in flight).
  virtual Async<InsertOutcome> submit(TenantId tenant, TaskSpec spec,
                                      std::optional<std::string> idempotency_key) = 0;
  // Decision only: what submit would grant.
  virtual Async<TaskRecord> dry_run(TenantId tenant, TaskSpec spec) = 0;
  // Durable when it returns. A task that has ended, or is already being cancelled, is returned as it is.
  virtual Async<TaskRecord> cancel(TenantId tenant, TaskId id) = 0;

  // not_found also for another tenant's task.
  virtual Async<TaskRecord> get(TenantId tenant, TaskId id) = 0;
  virtual Async<TaskPage> list(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) = 0;

  // Events after `seq`, at least one; an empty vector when the task's feed has ended (terminal and destroyed)
  // and was read to its end; waits otherwise, deadline_exceeded at the deadline (then ask again: heartbeat).
  virtual Async<std::vector<TaskEvent>> events(TenantId tenant, TaskId id, std::uint64_t seq,
                                               Deadline deadline) = 0;
  virtual Async<std::unique_ptr<LogReader>> open_log(TenantId tenant, TaskId id, LogStream stream,
                                                     std::uint64_t out_from, std::uint64_t err_from) = 0;
  virtual Async<LogSize> log_size(TenantId tenant, TaskId id) = 0;
  virtual Async<std::vector<UsageSample>> usage(TenantId tenant, TaskId id) = 0;
  virtual Async<std::vector<Artifact>> artifacts(TenantId tenant, TaskId id) = 0;
  virtual Async<std::unique_ptr<ArtifactReader>> open_artifact(TenantId tenant, TaskId id,
                                                               std::string path) = 0;

  virtual Readiness readiness() const = 0;
  virtual std::optional<Capabilities> capabilities() const = 0;
};

}  // namespace mayfly

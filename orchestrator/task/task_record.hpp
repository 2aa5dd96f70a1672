// What the store keeps of a task and its attempts, and what the API shows of it. Pure values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "task/task_spec.hpp"
#include "task/task_state.hpp"

namespace mayfly {

// Wall times of the borders between phases; absent until reached. A phase's length is the difference of two
// of them: queue = submitted→scheduled, prepare = scheduled→prepared, start = prepared→bound, first_output =
// bound→first_output, run = bound→ended, collect = ended→verdict, destroy = verdict→destroyed.
struct PhaseTimes {
  std::optional<WallTime> submitted{}, scheduled{}, prepared{}, bound{}, first_output{}, ended{}, verdict{},
      destroyed{};
  friend bool operator==(const PhaseTimes&, const PhaseTimes&) = default;
};

struct Usage {
  std::uint64_t cpu_ms = 0;        // user and system, whole sandbox
  std::uint64_t memory_bytes = 0;  // now
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t pids_peak = 0;
  std::uint64_t stalled_ms = 0;  // time the task stood still on a full spool
  friend bool operator==(const Usage&, const Usage&) = default;
};

struct UsageSample {
  WallTime at{};
  Usage usage;
};

struct TaskRecord {
  TaskId id;
  TenantId tenant;
  TaskSpec spec;
  Limits limits;
  Timeouts timeouts;
  Granted granted;
  std::string policy_version;  // hash of the policy that admitted it
  TaskState state = TaskState::queued;
  Reason reason = Reason::none;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string message;
  Desired desired = Desired::run;
  Reason desired_reason = Reason::none;  // why somebody wants it to end (first cause)
  std::vector<LimitHit> limits_hit;
  std::string pending_reason;  // while queued: why it waits
  std::uint32_t attempts = 0;
  std::string image_digest;  // what the reference was resolved to
  PhaseTimes times;
  Usage usage;
  bool cleanup_pending = false;  // terminal, and its sandbox is not yet gone
  std::uint64_t revision = 0;    // rises with every save; the ETag
};

struct AttemptRecord {
  AttemptId id{};
  TaskId task{};
  SandboxId sandbox{};
  std::uint32_t number = 1;
  AttemptState state = AttemptState::reserved;
  std::uint64_t epoch = 0;   // the highest ever used on the channel
  std::string instance{};    // the runner's, from the first hello
  bool bind_intent = false;  // on disk before bind is sent: from here on the process may have started
  std::string engine_id{};   // the container's id, once known
};

// An event of a task's feed. `seq` is durable and rises without gaps within a task: it is the SSE id.
struct TaskEvent {
  std::uint64_t seq = 0;
  WallTime at{};
  std::string
      type;  // task.queued, task.starting, task.running, task.limit_hit, task.ended, sandbox.destroyed, …
  Json data;
};

struct Artifact {
  std::string path;  // below /workspace
  Bytes size{};
  std::string sha256;
  std::uint32_t mode = 0644;
};

// The public representation (docs/openapi.json, schema Task). Input contents are left out unless asked for.
enum class SpecDetail { summary, full };
Json to_public_json(const TaskRecord& task, SpecDetail detail);

// The stored representation; corrupt when it is not what we wrote.
Json to_stored_json(const TaskRecord& task);
Result<TaskRecord> task_from_stored_json(const Json& json);
Json to_stored_json(const AttemptRecord& attempt);
Result<AttemptRecord> attempt_from_stored_json(const Json& json);

}  // namespace mayfly

// What tasks may ask for, and what they get when they do not ask. Parsed once from YAML, immutable, shared.
// Pure values; any thread. Layers for tenants and rules come between `defaults` and the task (policy issue).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "task/task_record.hpp"

namespace mayfly {

// The origin of a value: "policies/default.yaml:12:5".
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};
std::string to_string(const SourcePlace& place);

struct Retention {
  Millis task_age{std::chrono::hours(24 * 7)};  // after its verdict a task, its log and artifacts are removed
  Bytes log_bytes = 10_GiB;                     // all logs together: the oldest finished ones go first
  Millis idempotency_age{std::chrono::hours(24)};
};

struct Capacity {
  std::uint64_t sandboxes = 0;  // at once; 0: derived from the node
  std::int64_t millicpus = 0;   // 0: four times the node's processors (limits are quotas, not reservations)
  Bytes memory{};               // 0: nine tenths of the node's
  std::uint64_t queued_tasks = 100'000;  // more: 429
};

struct Policy {
  std::string name = "default";  // metadata.name, for people
  Limits default_limits;
  Limits max_limits;
  Timeouts default_timeouts;
  Timeouts max_timeouts;
  Bytes artifact_bytes = 1_GiB;  // all outputs of one task together
  std::uint64_t artifact_files = 10'000;
  Bytes workspace_tmpfs_max = 1_GiB;  // up to this size a workspace is a tmpfs
  Millis runner_lease{std::chrono::hours(1)};
  std::vector<std::string> accept_warnings;  // engine warnings (exact text) that do not fail a create
  Retention retention;
  Capacity capacity;
  Bytes disk_reserve = 256_MiB;  // less free in the data directory: new tasks get 503
  std::map<std::string, SourcePlace>
      places;                      // "defaults.limits.memory" → where it was said; absent: built in
  std::vector<std::string> notes;  // what the file says that acts otherwise than one might think; for the log
  std::string version;  // "sha256:…" of the canonical text of all that decides: not of name, places, notes
};

// Strict: unknown and duplicate keys, wrong types, units, aliases, tags, merge keys, second documents, tabs,
// octal and boolean look-alikes are errors with file:line:column, key path and what was probably meant.
// Bounded: 1 MiB, depth 32. A default over its own ceiling is an error; a default that the file does not set
// gives way to the file's ceiling. Accepts `kind: Policy` and the bare `execution_policy` block. Reference:
// docs/policies.md. Error: invalid_argument with every fault, its pointer being "file:line:column" and its
// detail the key path first.
Result<Policy> parse_policy(std::string_view yaml, const std::string& file_name);
Result<Policy> load_policy(const std::filesystem::path& file);  // blocking
// The policy that acts when no file is given: the shipped policies/default.yaml says the same (a test
// compares).
Policy builtin_policy();

// What a task gets under a policy. A default gives way to what was asked: pids are at most 128 per cpu, shm
// is within the memory, no phase is longer than `total`. Errors: policy_denied with every field over its
// ceiling (pointer, value, ceiling, and the line that set it); unprocessable when none is over a ceiling, but
// some value is too small to work or does not fit another.
struct Admission {
  Limits limits;
  Timeouts timeouts;
  Granted granted;
  std::string policy_version;
};
Result<Admission> admit(const TaskSpec& spec, const Policy& policy);

}  // namespace mayfly

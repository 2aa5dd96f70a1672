// The spec of a task as a user writes it (JSON or YAML), after strict parsing. Pure values; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "task/limits.hpp"

namespace mayfly {

enum class TaskKind { command };  // skill and agent come with their own issues
enum class OnLogLimit { end_task, truncate };

struct InputFile {
  std::string path{};     // relative to the workspace, safe (see workspace_path.hpp)
  std::string content{};  // bytes; in JSON either "content" (text) or "content_base64"
  std::uint32_t mode = 0644;
  friend bool operator==(const InputFile&, const InputFile&) = default;
};

struct TaskSpec {
  TaskKind kind = TaskKind::command;
  std::string name{};                  // optional, for people
  std::string image{};                 // a reference that the runtime resolves
  std::vector<std::string> command{};  // argv; empty when `script` is given
  std::string script{};                // run by `/bin/sh <file>`; written to a file, never an argument
  std::map<std::string, std::string> env{};
  std::string working_dir = "/workspace";
  std::string stdin_data{};  // bytes fed to the process, then end of file
  std::vector<InputFile> inputs{};
  std::vector<std::string> outputs{};  // globs below /workspace
  LimitsAsked limits{};
  TimeoutsAsked timeouts{};
  std::map<std::string, std::string> labels{};
  std::int32_t priority = 0;  // -1000..1000, bigger runs earlier within a tenant
  OnLogLimit on_log_limit = OnLogLimit::end_task;
  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

// Bounds of a spec. Each is documented in docs/limits.md and refused with its field when passed.
namespace spec_limits {
inline constexpr std::size_t kNameBytes = 128;
inline constexpr std::size_t kImageBytes = 255;
inline constexpr std::size_t kCommandArgs = 1024;
inline constexpr std::size_t kArgBytes = 131'071;  // the kernel's MAX_ARG_STRLEN less the final NUL
inline constexpr std::size_t kExecBytes =
    1U << 20U;  // argv and env together; the kernel's bound is 2 MiB on 8 MiB stacks
inline constexpr std::size_t kScriptBytes = 1U << 20U;
inline constexpr std::size_t kEnvEntries = 512;
inline constexpr std::size_t kStdinBytes = 1U << 20U;
inline constexpr std::size_t kInputs = 256;
inline constexpr std::size_t kInputBytes = 1U << 20U;  // all inline inputs together
inline constexpr std::size_t kOutputs = 64;
inline constexpr std::size_t kLabels = 64;
inline constexpr std::size_t kLabelBytes = 253;
inline constexpr std::size_t kPathBytes = 1024;
}  // namespace spec_limits

// Every unknown field, wrong type and bound is reported with its JSON pointer; all faults at once, not only
// the first. Error: invalid_argument when the shape is wrong, with `fields` filled.
Result<TaskSpec> parse_task_spec(const Json& json);
// The canonical form: parse_task_spec(to_json(s)) == s. Secrets are not known to this type.
Json to_json(const TaskSpec& spec);
// SHA-256-ready canonical text for the idempotency fingerprint: keys sorted, no spaces.
std::string canonical_text(const TaskSpec& spec);

Json to_json(const Limits& limits);
Json to_json(const Timeouts& timeouts);
Json to_json(const Granted& granted);
Result<Limits> limits_from_json(const Json& json);  // what to_json wrote; corrupt otherwise
Result<Timeouts> timeouts_from_json(const Json& json);
Result<Granted> granted_from_json(const Json& json);

}  // namespace mayfly

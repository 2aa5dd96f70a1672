#include <limits>

#include "docker_api/engine_error.hpp"
#include "docker_api/parse_answers.hpp"
#include "docker_api/parse_fields.hpp"

namespace mayfly::docker {

namespace {

// The API writes names with a slash before them.
std::string without_slash(std::string name) {
  if (name.starts_with('/')) name.erase(0, 1);
  return name;
}

std::optional<int> as_exit_code(std::optional<std::int64_t> code) {
  if (!code || *code < std::numeric_limits<int>::min() || *code > std::numeric_limits<int>::max())
    return std::nullopt;
  return static_cast<int>(*code);
}

// ExitCode is 0 as long as a container has not run, so it counts only in a state that comes after its end.
ContainerState read_state(Fields& fields) {
  ContainerState state;
  state.status = fields.required_text("Status");
  state.pid = fields.integer("Pid");
  state.oom_killed = fields.flag("OOMKilled");
  state.error = fields.text("Error");
  state.started_at = fields.text("StartedAt");
  state.finished_at = fields.text("FinishedAt");
  const auto code = as_exit_code(fields.optional_integer("ExitCode"));
  if (state.status == "exited" || state.status == "dead") state.exit_code = code;
  return state;
}

Result<ContainerSummary> parse_summary(const Json& item) {
  Fields fields(item, "a listed container");
  ContainerSummary summary;
  summary.id = fields.required_text("Id");
  summary.state = fields.text("State");
  summary.labels = fields.text_map("Labels");
  // No name is left while a container is being removed.
  if (const auto names = fields.texts("Names"); !names.empty()) summary.name = without_slash(names.front());
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return summary;
}

}  // namespace

Result<Created> parse_created(const Json& answer) {
  Fields fields(answer, "the created container");
  Created created;
  created.id = fields.required_text("Id");
  created.warnings = fields.texts("Warnings");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return created;
}

Result<ContainerInspect> parse_container(Json answer) {
  Fields fields(answer, "the container");
  Fields config(fields.object("Config"), "the container's configuration");
  Fields state(fields.object("State"), "the container's state");
  ContainerInspect container;
  container.id = fields.required_text("Id");
  container.name = without_slash(fields.text("Name"));
  container.image = fields.text("Image");
  container.labels = config.text_map("Labels");
  container.state = read_state(state);
  for (const Fields* part : {&fields, &config, &state})
    if (auto read = part->check(); !read) return fail_with(std::move(read));
  container.raw = std::move(answer);
  return container;
}

Result<std::vector<ContainerSummary>> parse_container_list(const Json& answer) {
  if (!answer.is_array()) return fail(ErrorCode::protocol, "the engine's list of containers is no list");
  std::vector<ContainerSummary> containers;
  for (const Json& item : answer) {
    auto summary = parse_summary(item);
    if (!summary) return fail_with(std::move(summary));
    containers.push_back(std::move(*summary));
  }
  return containers;
}

Result<int> parse_wait(const Json& answer) {
  Fields fields(answer, "the container's end");
  Fields error(fields.object("Error"), "the container's end");
  const auto code = as_exit_code(fields.optional_integer("StatusCode"));
  const std::string message = error.text("Message");
  fields.require(code.has_value(), "StatusCode is no exit code");
  if (!message.empty())
    return fail(ErrorCode::engine_refused,
                "the engine could not wait for the container: " + shown_text(message));
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return *code;
}

Result<std::vector<std::string>> parse_update(const Json& answer) {
  Fields fields(answer, "the update");
  auto warnings = fields.texts("Warnings");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return warnings;
}

}  // namespace mayfly::docker

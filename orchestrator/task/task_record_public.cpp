// What the API shows of a task (declared in task_record.hpp).
#include <algorithm>

#include "task/field_names.hpp"
#include "task/record_fields.hpp"
#include "task/spec_names.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kMostSummaryBytes = 200;

// Absent things are null, so that a reader finds every member always.
Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}
template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// The first line of a script that does something.
std::string_view first_line_of(std::string_view script) {
  for (std::size_t begin = 0; begin < script.size();) {
    const auto end = std::min(script.find('\n', begin), script.size());
    const auto line = script.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && line.front() != '#') return line;
    begin = end + 1;
  }
  return script;
}

// One line for people: what the task runs.
std::string summarize_command(const TaskSpec& spec) {
  if (!spec.script.empty()) return shorten_text(first_line_of(spec.script), kMostSummaryBytes);
  std::string line;
  for (const auto& arg : spec.command) {
    if (!line.empty()) line.push_back(' ');
    line += shorten_text(arg, kMostSummaryBytes);
    if (line.size() > kMostSummaryBytes) break;
  }
  return shorten_text(line, kMostSummaryBytes);
}

Json times_to_json(const PhaseTimes& times) {
  Json json = Json::object();
  for (const auto& field : kTimeFields) {
    const auto& time = times.*field.member;
    json[field.name] = time ? Json(format_time(*time)) : Json();
  }
  return json;
}

// Never negative: the wall clock may have been set back in between.
Json length_of(const std::optional<WallTime>& from, const std::optional<WallTime>& to) {
  if (!from || !to) return {};
  return std::max<std::int64_t>(0, (*to - *from).count());
}

Json phases_to_json(const PhaseTimes& times) {
  return {
      {"queue_ms", length_of(times.submitted, times.scheduled)},
      {"prepare_ms", length_of(times.scheduled, times.prepared)},
      {"start_ms", length_of(times.prepared, times.bound)},
      {"first_output_ms", length_of(times.bound, times.first_output)},
      {"run_ms", length_of(times.bound, times.ended)},
      {"collect_ms", length_of(times.ended, times.verdict)},
      {"destroy_ms", length_of(times.verdict, times.destroyed)},
  };
}

Json result_to_json(const TaskRecord& task) {
  const bool has_reason = task.reason != Reason::none;
  return {
      {"state", name_of(task.state)},
      {"reason", has_reason ? Json(name_of(task.reason)) : Json()},
      {"reason_class", has_reason ? Json(name_of(class_of(task.reason))) : Json()},
      {"exit_code", value_or_null(task.exit_code)},
      {"signal", value_or_null(task.signal)},
      {"message", text_or_null(task.message)},
      {"desired", name_of(task.desired)},
      {"limits_hit", to_json(task.limits_hit)},
      {"pending_reason", text_or_null(task.pending_reason)},
      {"attempts", task.attempts},
      {"cleanup_pending", task.cleanup_pending},
  };
}

Json asked_to_json(const TaskSpec& spec) {
  return {
      {"name", text_or_null(spec.name)},
      {"kind", name_of(spec.kind)},
      {"image", spec.image},
      {"command_summary", summarize_command(spec)},
      {"labels", spec.labels},
      {"priority", spec.priority},
  };
}

}  // namespace

Json to_public_json(const TaskRecord& task, SpecDetail detail) {
  Json json = {
      {"id", task.id.str()},
      {"tenant", task.tenant.str()},
      {"image_digest", text_or_null(task.image_digest)},
      {"limits", to_json(task.limits)},
      {"timeouts", to_json(task.timeouts)},
      {"granted", to_json(task.granted)},
      {"policy_version", task.policy_version},
      {"times", times_to_json(task.times)},
      {"phases", phases_to_json(task.times)},
      {"usage", to_json(task.usage)},
      {"revision", task.revision},
  };
  json.update(asked_to_json(task.spec));
  json.update(result_to_json(task));
  if (detail == SpecDetail::full) json["spec"] = to_json(task.spec);
  return json;
}

}  // namespace mayfly

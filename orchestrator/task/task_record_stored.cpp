// What the store keeps of tasks and attempts (declared in task_record.hpp).
#include <limits>

#include "task/record_fields.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {
namespace {

// Rises when the stored form changes so that an older reader would misunderstand it.
constexpr std::int64_t kVersion = 1;

constexpr Range<std::uint64_t> kAnyCount{0, std::numeric_limits<std::uint64_t>::max()};
constexpr Range<std::uint64_t> kAnyCount32{0, std::numeric_limits<std::uint32_t>::max()};
constexpr Range<std::int64_t> kAnyInteger{std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max()};
constexpr Range<std::int64_t> kAnyInteger32{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};

// The error of a part becomes a fault of the field that holds it.
template <class T>
void take_part(T& into, const Field& field, Result<T> (*parse)(const Json&)) {
  if (!field) return;
  auto part = parse(*field.value());
  if (part) {
    into = *std::move(part);
  } else {
    field.add_fault("bad_format", part.error().message);
  }
}

template <class Tag>
void take_id(Id<Tag>& into, const Field& field) {
  if (auto text = field.as_text()) into = Id<Tag>(*std::move(text));
}

void take_int(std::optional<int>& into, const Field& field) {
  if (const auto value = field.as_integer(kAnyInteger32)) into = static_cast<int>(*value);
}

void take_count(std::uint32_t& into, const Field& field) {
  if (const auto value = field.as_count(kAnyCount32)) into = static_cast<std::uint32_t>(*value);
}

template <class T>
Result<T> finish(ObjectReader& fields, std::string_view what, T& value) {
  fields.finish();
  if (fields.faults().empty()) return std::move(value);
  return tl::unexpected<Error>(fields.faults().to_error(ErrorCode::corrupt, what));
}

Json times_to_json(const PhaseTimes& times) {
  Json json = Json::object();
  for (const auto& field : kTimeFields) {
    if (const auto& time = times.*field.member) json[field.name] = time->time_since_epoch().count();
  }
  return json;
}

PhaseTimes read_times(ObjectReader fields) {
  PhaseTimes times;
  for (const auto& field : kTimeFields) {
    if (const auto ms = fields.optional(field.name).as_integer(kAnyInteger)) {
      times.*field.member = WallTime(Millis(*ms));
    }
  }
  fields.finish();
  return times;
}

Usage read_usage(ObjectReader fields) {
  Usage usage;
  for (const auto& field : kUsageFields) {
    take(usage.*field.member, fields.required(field.name).as_count(kAnyCount));
  }
  fields.finish();
  return usage;
}

std::vector<LimitHit> read_limits_hit(const Field& list) {
  std::vector<LimitHit> hits;
  for (const auto& field : list.as_list(std::numeric_limits<std::size_t>::max())) {
    if (const auto hit = field.as_named(find_limit_hit, "the known limits")) hits.push_back(*hit);
  }
  return hits;
}

void read_asked(ObjectReader& fields, TaskRecord& task) {
  take_id(task.id, fields.required("id"));
  take_id(task.tenant, fields.required("tenant"));
  take_part(task.spec, fields.required("spec"), parse_task_spec);
  take_part(task.limits, fields.required("limits"), limits_from_json);
  take_part(task.timeouts, fields.required("timeouts"), timeouts_from_json);
  take_part(task.granted, fields.required("granted"), granted_from_json);
  take(task.policy_version, fields.required("policy_version").as_text());
}

void read_result(ObjectReader& fields, TaskRecord& task) {
  take(task.state, fields.required("state").as_named(find_task_state, "the task states"));
  take(task.reason, fields.required("reason").as_named(find_reason, "the reasons"));
  take_int(task.exit_code, fields.optional("exit_code"));
  take_int(task.signal, fields.optional("signal"));
  take(task.message, read_bytes(fields, "message", "message_base64"));
  take(task.desired, fields.required("desired").as_named(find_desired, "run, stop, kill"));
  take(task.desired_reason, fields.required("desired_reason").as_named(find_reason, "the reasons"));
  task.limits_hit = read_limits_hit(fields.required("limits_hit"));
}

void read_progress(ObjectReader& fields, TaskRecord& task) {
  take(task.pending_reason, read_bytes(fields, "pending_reason", "pending_reason_base64"));
  take_count(task.attempts, fields.required("attempts"));
  take(task.image_digest, read_bytes(fields, "image_digest", "image_digest_base64"));
  task.times = read_times(fields.required("times").as_object());
  task.usage = read_usage(fields.required("usage").as_object());
  take(task.cleanup_pending, fields.required("cleanup_pending").as_flag());
  take(task.revision, fields.required("revision").as_count(kAnyCount));
}

}  // namespace

Json to_stored_json(const TaskRecord& task) {
  Json json = {
      {"version", kVersion},
      {"id", task.id.str()},
      {"tenant", task.tenant.str()},
      {"spec", to_json(task.spec)},
      {"limits", to_json(task.limits)},
      {"timeouts", to_json(task.timeouts)},
      {"granted", to_json(task.granted)},
      {"policy_version", task.policy_version},
      {"state", name_of(task.state)},
      {"reason", name_of(task.reason)},
      {"desired", name_of(task.desired)},
      {"desired_reason", name_of(task.desired_reason)},
      {"limits_hit", to_json(task.limits_hit)},
      {"attempts", task.attempts},
      {"times", times_to_json(task.times)},
      {"usage", to_json(task.usage)},
      {"cleanup_pending", task.cleanup_pending},
      {"revision", task.revision},
  };
  if (task.exit_code) json["exit_code"] = *task.exit_code;
  if (task.signal) json["signal"] = *task.signal;
  put_bytes(json, "message", task.message);
  put_bytes(json, "pending_reason", task.pending_reason);
  put_bytes(json, "image_digest", task.image_digest);
  return json;
}

Result<TaskRecord> task_from_stored_json(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  TaskRecord task;
  fields.required("version").as_integer({kVersion, kVersion});
  read_asked(fields, task);
  read_result(fields, task);
  read_progress(fields, task);
  return finish(fields, "a stored task", task);
}

Json to_stored_json(const AttemptRecord& attempt) {
  return {
      {"version", kVersion},
      {"id", attempt.id.str()},
      {"task", attempt.task.str()},
      {"sandbox", attempt.sandbox.str()},
      {"number", attempt.number},
      {"state", name_of(attempt.state)},
      {"epoch", attempt.epoch},
      {"instance", attempt.instance},
      {"bind_intent", attempt.bind_intent},
      {"engine_id", attempt.engine_id},
  };
}

Result<AttemptRecord> attempt_from_stored_json(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  AttemptRecord attempt;
  fields.required("version").as_integer({kVersion, kVersion});
  take_id(attempt.id, fields.required("id"));
  take_id(attempt.task, fields.required("task"));
  take_id(attempt.sandbox, fields.required("sandbox"));
  take_count(attempt.number, fields.required("number"));
  take(attempt.state, fields.required("state").as_named(find_attempt_state, "the attempt states"));
  take(attempt.epoch, fields.required("epoch").as_count(kAnyCount));
  take(attempt.instance, fields.required("instance").as_text());
  take(attempt.bind_intent, fields.required("bind_intent").as_flag());
  take(attempt.engine_id, fields.required("engine_id").as_text());
  return finish(fields, "a stored attempt", attempt);
}

}  // namespace mayfly

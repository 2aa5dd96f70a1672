// Limits after admission as JSON: shown by the API and kept by the store (declared in task_spec.hpp).
#include <limits>
#include <string>

#include "task/limits_fields.hpp"
#include "task/task_spec.hpp"

namespace mayfly {
namespace {

// What was stored is read back whatever today's bounds are.
constexpr Range<std::int64_t> kAnyMillicpus{0, std::numeric_limits<std::int64_t>::max()};
constexpr Range<std::uint64_t> kAnyCount{0, std::numeric_limits<std::uint64_t>::max()};
constexpr Range<Bytes> kAnySize{{0}, {kAnyCount.most}};
constexpr Range<Millis> kAnyDuration{Millis(0), Millis::max()};

template <class T>
Result<T> finish(ObjectReader& fields, std::string_view what, const T& value) {
  fields.finish();
  if (fields.faults().empty()) return value;
  return tl::unexpected<Error>(fields.faults().to_error(ErrorCode::corrupt, what));
}

}  // namespace

Json cpus_to_json(std::int64_t millicpus) {
  if (millicpus % 1000 == 0) return millicpus / 1000;
  return static_cast<double>(millicpus) / 1000;
}

Json to_json(const Limits& limits) {
  return {
      {"cpus", cpus_to_json(limits.millicpus)},
      {"memory", limits.memory.count},
      {"workspace", limits.workspace.count},
      {"tmp", limits.tmp.count},
      {"shm", limits.shm.count},
      {"log", limits.log_bytes.count},
      {"pids", limits.pids},
      {"open_files", limits.open_files},
      {"cpu_time", format_duration(limits.cpu_time)},
  };
}

Json to_json(const Timeouts& timeouts) {
  return {
      {"queue", format_duration(timeouts.queue)}, {"prepare", format_duration(timeouts.prepare)},
      {"start", format_duration(timeouts.start)}, {"run", format_duration(timeouts.run)},
      {"idle", format_duration(timeouts.idle)},   {"stop", format_duration(timeouts.stop)},
      {"total", format_duration(timeouts.total)},
  };
}

Json to_json(const Granted& granted) {
  return {
      {"cpus", cpus_to_json(granted.millicpus)}, {"memory", granted.memory.count}, {"pids", granted.pids}};
}

Result<Limits> limits_from_json(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  Limits limits;
  take(limits.millicpus, fields.required("cpus").as_millicpus(kAnyMillicpus));
  take(limits.memory, fields.required("memory").as_size(kAnySize));
  take(limits.workspace, fields.required("workspace").as_size(kAnySize));
  take(limits.tmp, fields.required("tmp").as_size(kAnySize));
  take(limits.shm, fields.required("shm").as_size(kAnySize));
  take(limits.log_bytes, fields.required("log").as_size(kAnySize));
  take(limits.pids, fields.required("pids").as_count(kAnyCount));
  take(limits.open_files, fields.required("open_files").as_count(kAnyCount));
  take(limits.cpu_time, fields.required("cpu_time").as_duration(kAnyDuration));
  return finish(fields, "the stored limits", limits);
}

Result<Timeouts> timeouts_from_json(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  Timeouts timeouts;
  take(timeouts.queue, fields.required("queue").as_duration(kAnyDuration));
  take(timeouts.prepare, fields.required("prepare").as_duration(kAnyDuration));
  take(timeouts.start, fields.required("start").as_duration(kAnyDuration));
  take(timeouts.run, fields.required("run").as_duration(kAnyDuration));
  take(timeouts.idle, fields.required("idle").as_duration(kAnyDuration));
  take(timeouts.stop, fields.required("stop").as_duration(kAnyDuration));
  take(timeouts.total, fields.required("total").as_duration(kAnyDuration));
  return finish(fields, "the stored timeouts", timeouts);
}

Result<Granted> granted_from_json(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  Granted granted;
  take(granted.millicpus, fields.required("cpus").as_millicpus(kAnyMillicpus));
  take(granted.memory, fields.required("memory").as_size(kAnySize));
  take(granted.pids, fields.required("pids").as_count(kAnyCount));
  return finish(fields, "the stored grant", granted);
}

}  // namespace mayfly

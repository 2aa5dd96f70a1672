// Names of the enums of a spec. Internal to task/. Pure.
#pragma once

#include "task/name_table.hpp"
#include "task/task_spec.hpp"

namespace mayfly {

inline constexpr std::array kTaskKinds = {Named{TaskKind::command, "command"}};
static_assert(is_complete(kTaskKinds, TaskKind::command));

inline constexpr std::array kOnLogLimits = {Named{OnLogLimit::end_task, "end_task"},
                                            Named{OnLogLimit::truncate, "truncate"}};
static_assert(is_complete(kOnLogLimits, OnLogLimit::truncate));

inline std::optional<TaskKind> find_task_kind(std::string_view name) {
  return find_in(kTaskKinds, name);
}
inline std::optional<OnLogLimit> find_on_log_limit(std::string_view name) {
  return find_in(kOnLogLimits, name);
}
inline std::string_view name_of(TaskKind kind) {
  return name_in(kTaskKinds, kind);
}
inline std::string_view name_of(OnLogLimit what) {
  return name_in(kOnLogLimits, what);
}

}  // namespace mayfly

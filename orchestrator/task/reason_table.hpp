// Everything that is known about a reason, in one row each. Internal to task/. Pure.
#pragma once

#include <string_view>

#include "task/task_state.hpp"

namespace mayfly {

struct ReasonRow {
  Reason value;
  std::string_view name;
  ReasonClass blames;
  TaskState ends_as;          // the state of a task that ended for this reason
  std::string_view sentence;  // for people; what happened and what they can do
};

const ReasonRow& row_of(Reason reason);

}  // namespace mayfly

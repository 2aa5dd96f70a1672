#include "cli/exit_codes.hpp"

namespace mayfly::cli {
namespace {

int code_of_failure(const TaskRecord& task) {
  const ReasonClass whose = class_of(task.reason);
  if (whose == ReasonClass::infra || whose == ReasonClass::system) return kOrchestrator;
  if (task.exit_code && *task.exit_code != 0) return *task.exit_code;
  if (task.signal) return kSignalBase + *task.signal;
  return kFailure;
}

}  // namespace

int exit_code_of(const TaskRecord& task) {
  switch (task.state) {
    case TaskState::succeeded:
      return kOk;
    case TaskState::failed:
      return code_of_failure(task);
    case TaskState::timed_out:
      return kTimedOut;
    case TaskState::cancelled:
      return kCancelled;
    case TaskState::rejected:
    case TaskState::lost:
    case TaskState::held:
    case TaskState::queued:
    case TaskState::starting:
    case TaskState::running:
    case TaskState::stopping:
    case TaskState::finalizing:
      return kOrchestrator;
  }
  return kOrchestrator;
}

}  // namespace mayfly::cli

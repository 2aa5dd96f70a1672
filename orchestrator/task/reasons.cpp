#include "task/name_table.hpp"
#include "task/reason_table.hpp"

namespace mayfly {
namespace {

using enum TaskState;

// `lost` is for an end after which nobody can say what the process did: it may have started, and its own end
// is not known. Where its end is known (killed from outside) the task has failed.
constexpr std::array kRows = {
    ReasonRow{Reason::none, "none", ReasonClass::none, succeeded, "the process ended with exit code 0"},

    ReasonRow{Reason::exit_nonzero, "exit_nonzero", ReasonClass::user, failed,
              "the process ended with an exit code other than 0"},
    ReasonRow{Reason::signal, "signal", ReasonClass::user, failed, "the process was ended by a signal"},
    ReasonRow{Reason::command_not_found, "command_not_found", ReasonClass::user, failed,
              "the program was not found in the image; check command[0] and its PATH"},
    ReasonRow{Reason::not_executable, "not_executable", ReasonClass::user, failed,
              "the program could not be executed; check its permissions, its format and its interpreter"},
    ReasonRow{Reason::output_missing, "output_missing", ReasonClass::user, failed,
              "a declared output was not made"},

    ReasonRow{Reason::oom_killed, "oom_killed", ReasonClass::policy, failed,
              "the kernel killed the main process because the task was over its memory; raise limits.memory "
              "or use less"},
    ReasonRow{Reason::disk_quota, "disk_quota", ReasonClass::policy, failed,
              "the workspace was full; raise limits.workspace or write less"},
    ReasonRow{Reason::pids_limit, "pids_limit", ReasonClass::policy, failed,
              "the task had too many processes; raise limits.pids or start fewer"},
    ReasonRow{
        Reason::log_limit, "log_limit", ReasonClass::policy, failed,
        "the task wrote more output than limits.log; raise it, write less, or set on_log_limit to truncate"},
    ReasonRow{Reason::run_timeout, "run_timeout", ReasonClass::policy, timed_out,
              "the task ran longer than timeouts.run"},
    ReasonRow{Reason::idle_timeout, "idle_timeout", ReasonClass::policy, timed_out,
              "the task wrote nothing for timeouts.idle"},
    ReasonRow{Reason::cpu_time, "cpu_time", ReasonClass::policy, timed_out,
              "the task used more processor time than limits.cpu_time"},
    ReasonRow{Reason::budget_exhausted, "budget_exhausted", ReasonClass::policy, failed,
              "the task's budget was used up"},
    ReasonRow{Reason::policy_denied, "policy_denied", ReasonClass::policy, rejected,
              "the policy does not allow this task"},

    ReasonRow{Reason::image_unavailable, "image_unavailable", ReasonClass::infra, failed,
              "the image is not there; check its name, or bring it to the engine first"},
    ReasonRow{Reason::image_pull_failed, "image_pull_failed", ReasonClass::infra, failed,
              "the image could not be pulled"},
    ReasonRow{Reason::engine_restarted, "engine_restarted", ReasonClass::infra, lost,
              "the container engine was restarted while the task ran, and stopped it"},
    ReasonRow{Reason::engine_unreachable, "engine_unreachable", ReasonClass::infra, failed,
              "the container engine gave no answer"},
    ReasonRow{Reason::engine_refused, "engine_refused", ReasonClass::infra, failed,
              "the container engine refused to run the task"},
    ReasonRow{Reason::container_vanished, "container_vanished", ReasonClass::infra, lost,
              "the container was removed by somebody else while the task ran"},
    ReasonRow{Reason::container_restarted, "container_restarted", ReasonClass::infra, lost,
              "the container was started a second time by somebody else; the task was not run again in it"},
    ReasonRow{Reason::prepare_timeout, "prepare_timeout", ReasonClass::infra, timed_out,
              "the image and the workspace were not ready within timeouts.prepare"},
    ReasonRow{Reason::start_timeout, "start_timeout", ReasonClass::infra, timed_out,
              "the sandbox did not start within timeouts.start"},
    ReasonRow{Reason::queue_timeout, "queue_timeout", ReasonClass::infra, timed_out,
              "the task waited in the queue longer than timeouts.queue"},
    ReasonRow{Reason::total_timeout, "total_timeout", ReasonClass::infra, timed_out,
              "the task took longer than timeouts.total from submit to end"},
    ReasonRow{Reason::killed_externally, "killed_externally", ReasonClass::infra, failed,
              "the container was killed from outside, not by Mayfly"},
    ReasonRow{Reason::runner_lost, "runner_lost", ReasonClass::infra, lost,
              "the runner in the sandbox ended before the task did"},
    ReasonRow{Reason::runtime_untrusted, "runtime_untrusted", ReasonClass::infra, failed,
              "the sandbox was not as it was asked for, so the task was not given to it"},
    ReasonRow{Reason::no_space, "no_space", ReasonClass::infra, failed,
              "the disk of the control plane or of the engine was full"},

    ReasonRow{Reason::runner_protocol_error, "runner_protocol_error", ReasonClass::system, failed,
              "the runner broke the protocol of the channel"},
    ReasonRow{Reason::internal, "internal", ReasonClass::system, failed,
              "a fault of Mayfly itself; see its log"},

    ReasonRow{Reason::cancelled_by_user, "cancelled_by_user", ReasonClass::cancelled, TaskState::cancelled,
              "the task was cancelled"},
    ReasonRow{Reason::superseded, "superseded", ReasonClass::cancelled, TaskState::cancelled,
              "a newer task took the place of this one"},
    ReasonRow{Reason::dependency_failed, "dependency_failed", ReasonClass::cancelled, TaskState::cancelled,
              "a task that this one depends on did not succeed"},
};
static_assert(is_complete(kRows, Reason::dependency_failed));

constexpr std::array kClasses = {
    Named{ReasonClass::none, "none"},     Named{ReasonClass::user, "user"},
    Named{ReasonClass::policy, "policy"}, Named{ReasonClass::infra, "infra"},
    Named{ReasonClass::system, "system"}, Named{ReasonClass::cancelled, "cancelled"}};
static_assert(is_complete(kClasses, ReasonClass::cancelled));

}  // namespace

const ReasonRow& row_of(Reason reason) {
  return kRows.at(static_cast<std::size_t>(reason));
}

std::string_view name_of(Reason reason) {
  return row_of(reason).name;
}
std::string_view name_of(ReasonClass reason_class) {
  return name_in(kClasses, reason_class);
}
std::optional<Reason> find_reason(std::string_view name) {
  return find_in(kRows, name);
}
ReasonClass class_of(Reason reason) {
  return row_of(reason).blames;
}

}  // namespace mayfly

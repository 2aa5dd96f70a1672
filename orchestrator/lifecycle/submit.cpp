// Phase: submit and admit. A task is accepted when it is on disk, and not before.
#include "base/digest.hpp"
#include "lifecycle/control_plane.hpp"

namespace mayfly {
namespace {

NewEvent accepted(const TaskRecord& task) {
  return {.type = "task.queued",
          .data = Json{{"policy_version", task.policy_version}, {"granted", to_json(task.granted)}}};
}

}  // namespace

Result<> ControlPlane::check_open() const {
  if (draining_) return fail(ErrorCode::unavailable, "the server is stopping: submit to its successor");
  if (disk_low_) return fail(ErrorCode::disk_full, "the server's disk is nearly full: " + disk_detail_);
  if (scheduler_.queued() >= policy_->capacity.queued_tasks) {
    return fail(ErrorCode::rate_limited,
                "the queue is full (" + std::to_string(scheduler_.queued()) + " tasks): submit later");
  }
  return {};
}

Result<Admission> ControlPlane::decide(const TaskSpec& spec) const {
  auto admission = admit(spec, *policy_);
  if (!admission || !capabilities_) return admission;
  if (admission->limits.workspace > capabilities_->workspace_max) {
    return fail(ErrorCode::policy_denied, "this node's storage cannot hold the workspace's size limit",
                {{.pointer = "/limits/workspace",
                  .code = "unsupported",
                  .detail = format_bytes(admission->limits.workspace) + " is over " +
                            format_bytes(capabilities_->workspace_max) +
                            ", the largest size limit that can be held here"}});
  }
  if (!scheduler_.could_fit(admission->granted)) {
    return fail(ErrorCode::policy_denied, "this node can never run the task",
                {{.pointer = "/limits",
                  .code = "over_capacity",
                  .detail = format_millicpus(admission->granted.millicpus) + " cpus and " +
                            format_bytes(admission->granted.memory) + " granted memory; the node offers " +
                            format_millicpus(scheduler_.capacity().millicpus) + " cpus and " +
                            format_bytes(scheduler_.capacity().memory)}});
  }
  return admission;
}

TaskRecord ControlPlane::make_record(TenantId tenant, TaskSpec spec, const Admission& admission) const {
  TaskRecord task;
  task.id = make_id<TaskId>();
  task.tenant = std::move(tenant);
  task.spec = std::move(spec);
  task.limits = admission.limits;
  task.timeouts = admission.timeouts;
  task.granted = admission.granted;
  task.policy_version = admission.policy_version;
  task.times.submitted = services_.clock.wall();
  return task;
}

Async<InsertOutcome> ControlPlane::submit(TenantId tenant, TaskSpec spec,
                                          std::optional<std::string> idempotency_key) {
  std::optional<IdempotencyKey> key;
  if (idempotency_key) {
    key = IdempotencyKey{.scope = tenant.str() + "/tasks",
                         .key = std::move(*idempotency_key),
                         .fingerprint = sha256_hex(canonical_text(spec))};
  }
  auto open = check_open();
  if (!open) {
    services_.metrics.add("mayfly_tasks_submitted_total",
                          {{"result", std::string(name_of(open.error().code))}});
    co_return fail_with(std::move(open));
  }
  auto admission = decide(spec);
  if (!admission) {
    services_.metrics.add("mayfly_tasks_submitted_total",
                          {{"result", std::string(name_of(admission.error().code))}});
    co_return fail_with(std::move(admission));
  }
  TaskRecord task = make_record(std::move(tenant), std::move(spec), *admission);
  std::vector<NewEvent> events{accepted(task)};
  auto inserted = co_await services_.store.insert_task(std::move(task), std::move(events), std::move(key));
  services_.metrics.add("mayfly_tasks_submitted_total",
                        {{"result", !inserted            ? std::string(name_of(inserted.error().code))
                                    : inserted->replayed ? "replayed"
                                                         : "accepted"}});
  if (inserted && !inserted->replayed) {
    auto live = std::make_shared<LiveTask>(services_, inserted->task);
    live_.emplace(live->id(), live);
    enqueue(live);
  } else if (inserted) {
    if (const auto live = find_live(inserted->task.id)) inserted->task = view_of(*live);
  }
  co_return inserted;
}

Async<TaskRecord> ControlPlane::dry_run(TenantId tenant, TaskSpec spec) {
  auto admission = decide(spec);
  if (!admission) co_return fail_with(std::move(admission));
  co_return make_record(std::move(tenant), std::move(spec), *admission);
}

Async<TaskRecord> ControlPlane::cancel(TenantId tenant, TaskId id) {
  auto found = co_await get(tenant, id);
  const auto live = find_live(id);
  if (!found || !live || is_terminal(live->record().state) || live->stop_wanted()) co_return found;
  auto wanted = co_await live->try_update(want_end(Reason::cancelled_by_user));
  if (!wanted) co_return fail_with(std::move(wanted));
  if (scheduler_.remove(id)) {
    update_gauges();
    tasks_.spawn("cancel", end_queued(live, Reason::cancelled_by_user, "cancelled while queued"));
  }
  co_return view_of(*live);
}

}  // namespace mayfly

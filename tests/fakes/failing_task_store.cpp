#include "fakes/failing_task_store.hpp"

namespace mayfly::test {

Async<InsertOutcome> FailingTaskStore::insert_task(TaskRecord task, std::vector<NewEvent> events,
                                                   std::optional<IdempotencyKey> key) {
  return unless_failing(real_.insert_task(std::move(task), std::move(events), std::move(key)));
}

Async<std::uint64_t> FailingTaskStore::save(TaskRecord task, std::optional<AttemptRecord> attempt,
                                            std::vector<NewEvent> events) {
  return unless_failing(real_.save(std::move(task), std::move(attempt), std::move(events)));
}

Async<> FailingTaskStore::save_attempt(AttemptRecord attempt) {
  return unless_failing(real_.save_attempt(std::move(attempt)));
}

Async<> FailingTaskStore::save_artifacts(TaskId task, std::vector<Artifact> artifacts) {
  return unless_failing(real_.save_artifacts(std::move(task), std::move(artifacts)));
}

Async<> FailingTaskStore::add_usage_samples(TaskId task, std::vector<UsageSample> samples) {
  return unless_failing(real_.add_usage_samples(std::move(task), std::move(samples)));
}

Async<TaskRecord> FailingTaskStore::get_task(TaskId id) {
  return real_.get_task(std::move(id));
}

Async<TaskPage> FailingTaskStore::list_tasks(TaskFilter filter, std::size_t limit,
                                             std::optional<TaskId> before) {
  return real_.list_tasks(std::move(filter), limit, std::move(before));
}

Async<std::vector<TaskRecord>> FailingTaskStore::unfinished_tasks() {
  return real_.unfinished_tasks();
}

Async<std::vector<AttemptRecord>> FailingTaskStore::attempts_of(TaskId id) {
  return real_.attempts_of(std::move(id));
}

Async<std::optional<AttemptRecord>> FailingTaskStore::find_attempt_by_sandbox(SandboxId id) {
  return real_.find_attempt_by_sandbox(std::move(id));
}

Async<std::vector<TaskEvent>> FailingTaskStore::events_after(TaskId id, std::uint64_t seq,
                                                             std::size_t limit) {
  return real_.events_after(std::move(id), seq, limit);
}

Async<std::vector<Artifact>> FailingTaskStore::artifacts_of(TaskId id) {
  return real_.artifacts_of(std::move(id));
}

Async<std::vector<UsageSample>> FailingTaskStore::usage_of(TaskId id, std::size_t limit) {
  return real_.usage_of(std::move(id), limit);
}

Async<std::vector<TaskId>> FailingTaskStore::finished_before(WallTime verdict_before, std::size_t limit) {
  return real_.finished_before(verdict_before, limit);
}

Async<> FailingTaskStore::remove_tasks(std::vector<TaskId> ids) {
  return unless_failing(real_.remove_tasks(std::move(ids)));
}

Async<> FailingTaskStore::forget_keys_before(WallTime created_before) {
  return unless_failing(real_.forget_keys_before(created_before));
}

Async<std::optional<std::string>> FailingTaskStore::get_setting(std::string name) {
  return real_.get_setting(std::move(name));
}

Async<> FailingTaskStore::put_setting(std::string name, std::string value) {
  return unless_failing(real_.put_setting(std::move(name), std::move(value)));
}

Async<> FailingTaskStore::close() {
  return real_.close();
}

}  // namespace mayfly::test

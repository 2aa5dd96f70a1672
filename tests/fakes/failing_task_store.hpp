// A task store whose writes fail on demand; everything else goes to a real one behind it.
#pragma once

#include <optional>
#include <utility>

#include "store/task_store.hpp"

namespace mayfly::test {

class FailingTaskStore final : public TaskStore {
 public:
  explicit FailingTaskStore(TaskStore& real) : real_(real) {}

  // From now on every write fails with this error and changes nothing.
  void fail_writes_with(ErrorCode code) {
    error_ = Error{.code = code, .message = "a test made this write fail"};
  }
  void heal() { error_.reset(); }
  std::size_t refused() const { return refused_; }

  Async<InsertOutcome> insert_task(TaskRecord task, std::vector<NewEvent> events,
                                   std::optional<IdempotencyKey> key) override;
  Async<std::uint64_t> save(TaskRecord task, std::optional<AttemptRecord> attempt,
                            std::vector<NewEvent> events) override;
  Async<> save_attempt(AttemptRecord attempt) override;
  Async<> save_artifacts(TaskId task, std::vector<Artifact> artifacts) override;
  Async<> add_usage_samples(TaskId task, std::vector<UsageSample> samples) override;
  Async<TaskRecord> get_task(TaskId id) override;
  Async<TaskPage> list_tasks(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) override;
  Async<std::vector<TaskRecord>> unfinished_tasks() override;
  Async<std::vector<AttemptRecord>> attempts_of(TaskId id) override;
  Async<std::optional<AttemptRecord>> find_attempt_by_sandbox(SandboxId id) override;
  Async<std::vector<TaskEvent>> events_after(TaskId id, std::uint64_t seq, std::size_t limit) override;
  Async<std::vector<Artifact>> artifacts_of(TaskId id) override;
  Async<std::vector<UsageSample>> usage_of(TaskId id, std::size_t limit) override;
  Async<std::vector<TaskId>> finished_before(WallTime verdict_before, std::size_t limit) override;
  Async<> remove_tasks(std::vector<TaskId> ids) override;
  Async<> forget_keys_before(WallTime created_before) override;
  Async<std::optional<std::string>> get_setting(std::string name) override;
  Async<> put_setting(std::string name, std::string value) override;
  Async<> close() override;

 private:
  // The call, unless writes fail: then it is never started.
  template <class T>
  Async<T> unless_failing(Async<T> call) {
    if (!error_) co_return co_await std::move(call);
    ++refused_;
    co_return tl::unexpected<Error>(*error_);
  }

  TaskStore& real_;
  std::optional<Error> error_;
  std::size_t refused_ = 0;
};

}  // namespace mayfly::test

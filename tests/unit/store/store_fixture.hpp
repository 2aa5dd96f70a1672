// A task store in a directory of its own, with records to put into it.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "store/sqlite_task_store.hpp"
#include "support/io_loop.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

inline TaskRecord make_task(const std::string& tenant = "default") {
  TaskRecord task;
  task.id = make_id<TaskId>();
  task.tenant = TenantId(tenant);
  task.spec.image = "busybox:1";
  task.spec.command = {"true"};
  task.policy_version = "0123";
  task.times.submitted = WallTime(Millis(1'700'000'000'000));
  return task;
}

inline AttemptRecord make_attempt(const TaskId& task, std::uint32_t number = 1) {
  AttemptRecord attempt;
  attempt.id = make_id<AttemptId>();
  attempt.task = task;
  attempt.sandbox = make_id<SandboxId>();
  attempt.number = number;
  return attempt;
}

inline NewEvent make_event(std::string type, Json data = Json::object()) {
  return {.type = std::move(type), .data = std::move(data)};
}

class StoreFixture {
 public:
  StoreFixture() { open(); }

  void open() {
    auto opened = open_sqlite_task_store(dir.path() / "data", clock, metrics);
    if (!opened) throw std::runtime_error(opened.error().message);
    store = std::move(*opened);
  }
  void reopen() {
    store.reset();
    open();
  }
  template <class T>
  Result<T> await(Async<T> call) {
    return loop.await(std::move(call));
  }
  // Inserts and returns the record as it stands in the store.
  TaskRecord insert(TaskRecord task) {
    auto outcome = await(store->insert_task(std::move(task), {}, std::nullopt));
    if (!outcome) throw std::runtime_error(outcome.error().message);
    return std::move(outcome->task);
  }
  TaskRecord insert() { return insert(make_task()); }
  // What retention does of the store.
  Result<std::vector<TaskId>> remove_finished_before(WallTime before, std::size_t limit) {
    auto old = await(store->finished_before(before, limit));
    if (!old) return old;
    if (auto removed = await(store->remove_tasks(*old)); !removed) return fail_with(removed);
    return old;
  }
  TaskRecord end(TaskRecord task, WallTime verdict) {
    task.state = TaskState::succeeded;
    task.exit_code = 0;
    task.times.verdict = verdict;
    auto saved = await(store->save(task, std::nullopt, {}));
    if (!saved) throw std::runtime_error(saved.error().message);
    task.revision = *saved;
    return task;
  }

  TempDir dir;
  ManualClock clock;
  Metrics metrics;
  IoLoop loop;
  std::unique_ptr<TaskStore> store;
};

template <class T>
ErrorCode code_of(const Result<T>& result) {
  if (result) throw std::logic_error("an error was expected");
  return result.error().code;
}

}  // namespace mayfly::test

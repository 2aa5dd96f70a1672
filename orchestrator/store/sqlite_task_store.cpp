#include "store/sqlite_task_store.hpp"

#include <utility>

#include "async/blocking_pool.hpp"
#include "store/commit_queue.hpp"
#include "store/data_dir_lock.hpp"
#include "store/migrations.hpp"
#include "store/task_reads.hpp"
#include "store/task_writes.hpp"

namespace mayfly {
namespace {

class SqliteTaskStore final : public TaskStore {
 public:
  SqliteTaskStore(DataDirLock lock, Database writer, Database reader, const Clock& clock, Metrics& metrics)
      : lock_(std::move(lock)),
        clock_(clock),
        reader_(std::make_shared<std::optional<Database>>(std::move(reader))),
        writes_(std::move(writer), metrics) {}

  Async<InsertOutcome> insert_task(TaskRecord task, std::vector<NewEvent> events,
                                   std::optional<IdempotencyKey> key) override {
    auto work = [task = std::move(task), events = std::move(events), key = std::move(key),
                 now = clock_.wall()](Database& database) {
      return task_writes::insert_task(database, task, events, key, now);
    };
    return writes_.run(std::move(work));
  }

  Async<std::uint64_t> save(TaskRecord task, std::optional<AttemptRecord> attempt,
                            std::vector<NewEvent> events) override {
    auto work = [task = std::move(task), attempt = std::move(attempt), events = std::move(events),
                 now = clock_.wall()](Database& database) {
      return task_writes::save(database, task, attempt, events, now);
    };
    return writes_.run(std::move(work));
  }

  Async<> save_attempt(AttemptRecord attempt) override {
    auto work = [attempt = std::move(attempt)](Database& database) {
      return task_writes::save_attempt(database, attempt);
    };
    return writes_.run(std::move(work));
  }

  Async<> save_artifacts(TaskId task, std::vector<Artifact> artifacts) override {
    auto work = [task = std::move(task), artifacts = std::move(artifacts)](Database& database) {
      return task_writes::save_artifacts(database, task, artifacts);
    };
    return writes_.run(std::move(work));
  }

  Async<> add_usage_samples(TaskId task, std::vector<UsageSample> samples) override {
    auto work = [task = std::move(task), samples = std::move(samples)](Database& database) {
      return task_writes::add_usage_samples(database, task, samples);
    };
    return writes_.run(std::move(work));
  }

  Async<TaskRecord> get_task(TaskId id) override {
    auto work = [id = std::move(id)](Database& database) { return task_reads::get_task(database, id); };
    return read(std::move(work));
  }

  Async<TaskPage> list_tasks(TaskFilter filter, std::size_t limit, std::optional<TaskId> before) override {
    auto work = [filter = std::move(filter), limit, before = std::move(before)](Database& database) {
      return task_reads::list_tasks(database, filter, limit, before);
    };
    return read(std::move(work));
  }

  Async<std::vector<TaskRecord>> unfinished_tasks() override {
    auto work = [](Database& database) { return task_reads::unfinished_tasks(database); };
    return read(std::move(work));
  }

  Async<std::vector<AttemptRecord>> attempts_of(TaskId id) override {
    auto work = [id = std::move(id)](Database& database) { return task_reads::attempts_of(database, id); };
    return read(std::move(work));
  }

  Async<std::optional<AttemptRecord>> find_attempt_by_sandbox(SandboxId id) override {
    auto work = [id = std::move(id)](Database& database) {
      return task_reads::find_attempt_by_sandbox(database, id);
    };
    return read(std::move(work));
  }

  Async<std::vector<TaskEvent>> events_after(TaskId id, std::uint64_t seq, std::size_t limit) override {
    auto work = [id = std::move(id), seq, limit](Database& database) {
      return task_reads::events_after(database, id, seq, limit);
    };
    return read(std::move(work));
  }

  Async<std::vector<Artifact>> artifacts_of(TaskId id) override {
    auto work = [id = std::move(id)](Database& database) { return task_reads::artifacts_of(database, id); };
    return read(std::move(work));
  }

  Async<std::vector<UsageSample>> usage_of(TaskId id, std::size_t limit) override {
    auto work = [id = std::move(id), limit](Database& database) {
      return task_reads::usage_of(database, id, limit);
    };
    return read(std::move(work));
  }

  Async<std::vector<TaskId>> finished_before(WallTime verdict_before, std::size_t limit) override {
    auto work = [verdict_before, limit](Database& database) {
      return task_reads::finished_before(database, verdict_before, limit);
    };
    return read(std::move(work));
  }

  Async<> remove_tasks(std::vector<TaskId> ids) override {
    auto work = [ids = std::move(ids)](Database& database) {
      return task_writes::remove_tasks(database, ids);
    };
    return writes_.run(std::move(work));
  }

  Async<> forget_keys_before(WallTime created_before) override {
    auto work = [created_before](Database& database) {
      return task_writes::forget_keys_before(database, created_before);
    };
    return writes_.run(std::move(work));
  }

  Async<std::optional<std::string>> get_setting(std::string name) override {
    auto work = [name = std::move(name)](Database& database) {
      return task_reads::get_setting(database, name);
    };
    return read(std::move(work));
  }

  Async<> put_setting(std::string name, std::string value) override {
    auto work = [name = std::move(name), value = std::move(value)](Database& database) {
      return task_writes::put_setting(database, name, value);
    };
    return writes_.run(std::move(work));
  }

  Async<> close() override {
    auto work = [this]() -> Result<> {
      writes_.close();
      reader_->reset();
      return {};
    };
    return readers_.run(std::move(work));
  }

 private:
  // The pool's one thread is the only one that touches the reading connection.
  template <class Work>
  auto read(Work work) -> asio::awaitable<std::invoke_result_t<const Work&, Database&>> {
    using R = std::invoke_result_t<const Work&, Database&>;
    auto on_reader = [reader = reader_, work = std::move(work)]() -> R {
      if (!*reader) return fail(ErrorCode::unavailable, "the task store is closed");
      return std::as_const(work)(**reader);
    };
    return readers_.run(std::move(on_reader));
  }

  DataDirLock lock_;
  const Clock& clock_;
  std::shared_ptr<std::optional<Database>> reader_;
  CommitQueue writes_;
  BlockingPool readers_{1};
};

}  // namespace

Result<std::unique_ptr<TaskStore>> open_sqlite_task_store(const std::filesystem::path& data_dir,
                                                          const Clock& clock, Metrics& metrics) {
  auto lock = DataDirLock::acquire(data_dir);
  if (!lock) return fail_with(lock);
  const auto path = data_dir / "tasks.db";
  auto writer = Database::open(path, DatabaseAccess::read_write);
  if (!writer) return fail_with(writer);
  if (auto migrated = migrate(*writer, task_store_migrations()); !migrated) return fail_with(migrated);
  auto reader = Database::open(path, DatabaseAccess::read_only);
  if (!reader) return fail_with(reader);
  return std::make_unique<SqliteTaskStore>(std::move(*lock), std::move(*writer), std::move(*reader), clock,
                                           metrics);
}

}  // namespace mayfly

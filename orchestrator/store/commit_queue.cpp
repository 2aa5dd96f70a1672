#include "store/commit_queue.hpp"

#include <chrono>

namespace mayfly {
namespace {

// Undoes the call's own changes when it failed. An error means that the whole transaction is lost: on a full
// disk SQLite undoes it by itself.
Result<> end_savepoint(Database& database, const Result<>& attempted) {
  if (!database.in_transaction()) {
    if (!attempted) return attempted;
    return fail(ErrorCode::internal, "a store call ended the transaction");
  }
  if (!attempted) {
    if (auto undone = database.run("ROLLBACK TO call"); !undone) return undone;
  }
  return database.run("RELEASE call");
}

}  // namespace

CommitQueue::CommitQueue(Database database, Metrics& metrics)
    : metrics_(metrics),
      thread_([this, database = std::move(database)]() mutable { serve(std::move(database)); }) {}

void CommitQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CommitQueue::enqueue(std::unique_ptr<Call> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      queued_.push_back(std::move(call));
      changed_.notify_one();
      return;
    }
  }
  call->fail(Error{.code = ErrorCode::unavailable, .message = "the task store is closed"});
  call->resume();
}

CommitQueue::Group CommitQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !queued_.empty(); });
  return std::exchange(queued_, {});
}

void CommitQueue::serve(Database database) {
  for (Group group = take(); !group.empty(); group = take()) {
    const auto begun = std::chrono::steady_clock::now();
    commit(database, group);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    metrics_.observe("mayfly_store_commit_seconds", took.count());
    for (auto& call : group) {
      call->resume();
      call.reset();  // it holds the caller's executor busy
    }
  }
}

// A full disk may be full for a big call and not for the small ones beside it, and SQLite answers it by
// undoing the whole transaction: then each call gets a transaction of its own. Any other failure of a commit
// is everybody's, since it is not certain that nothing of it stands.
void CommitQueue::commit(Database& database, Group& group) {
  const auto together = commit_together(database, group.data(), group.size());
  if (together) return;
  const bool alone = together.error().code == ErrorCode::disk_full && group.size() > 1;
  for (auto& call : group) {
    if (!alone) {
      call->fail(together.error());
    } else if (const auto committed = commit_together(database, &call, 1); !committed) {
      call->fail(committed.error());
    }
  }
}

Result<> CommitQueue::commit_together(Database& database, std::unique_ptr<Call>* first, std::size_t count) {
  auto done = database.run("BEGIN IMMEDIATE");
  for (std::size_t i = 0; done && i < count; ++i) {
    done = database.run("SAVEPOINT call");
    if (!done) break;
    done = end_savepoint(database, first[i]->attempt(database));
  }
  if (done) done = database.run("COMMIT");
  if (!done && database.in_transaction()) (void)database.run("ROLLBACK");
  return done;
}

}  // namespace mayfly

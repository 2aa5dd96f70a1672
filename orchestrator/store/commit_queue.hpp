// Group commit: one thread owns the writing connection, runs everything that waits in one transaction, and
// lets the callers go on after its one fsync. A call that fails undoes only itself.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "async/outcome.hpp"
#include "base/metrics.hpp"
#include "store/database.hpp"

namespace mayfly {

class CommitQueue {
 public:
  // `metrics` hears of each group (mayfly_store_commit_seconds).
  CommitQueue(Database database, Metrics& metrics);
  // Commits what is queued first.
  ~CommitQueue() { close(); }
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  // Runs `work`, a callable Result<T>(Database&), on the queue's thread and completes after its transaction
  // is on disk, or with the error that undid it. `work` may be run a second time when the group it ran in
  // could not be committed, so it leaves what it captured as it is. A cancelled caller waits on. After close:
  // unavailable.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<const Work&, Database&>> {
    using R = std::invoke_result_t<const Work&, Database&>;
    auto start = [this, work = std::move(work)](auto waiting) mutable {
      using Waiting = decltype(waiting);
      enqueue(std::make_unique<WaitingCall<R, Work, Waiting>>(std::move(work), std::move(waiting)));
    };
    return suspend_until_resumed<R>(std::move(start));
  }

  // Refuses further calls, commits what is queued, closes the connection. Blocks until then; idempotent.
  void close();

 private:
  class Call {
   public:
    virtual ~Call() = default;
    // Runs the work; its changes are kept when there is no error.
    virtual Result<> attempt(Database& database) = 0;
    virtual void fail(const Error& error) = 0;
    virtual void resume() = 0;
  };
  using Group = std::vector<std::unique_ptr<Call>>;

  template <class R, class Work, class Waiting>
  class WaitingCall final : public Call {
   public:
    WaitingCall(Work work, Waiting waiting) : work_(std::move(work)), waiting_(std::move(waiting)) {}
    Result<> attempt(Database& database) override {
      outcome_ = Outcome<R>::of(std::as_const(work_), database);
      if (outcome_.thrown) return mayfly::fail(ErrorCode::internal, "a store call threw");
      if (!outcome_.value->has_value()) return fail_with(*outcome_.value);
      return {};
    }
    void fail(const Error& error) override {
      outcome_.thrown = nullptr;
      outcome_.value.emplace(tl::unexpected<Error>(error));
    }
    void resume() override { waiting_.resume(std::move(outcome_)); }

   private:
    Work work_;
    Waiting waiting_;
    Outcome<R> outcome_;
  };

  void enqueue(std::unique_ptr<Call> call);
  void serve(Database database);
  Group take();
  static void commit(Database& database, Group& group);
  static Result<> commit_together(Database& database, std::unique_ptr<Call>* first, std::size_t count);

  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Group queued_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace mayfly

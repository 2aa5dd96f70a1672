// Threads for work that blocks (SQLite, the file system, YAML), and the way back to the I/O thread.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <type_traits>
#include <utility>

#include "async/outcome.hpp"
#include "async/task_types.hpp"

namespace mayfly {

// Destroy it before the io_context whose coroutines wait for it.
class BlockingPool {
 public:
  explicit BlockingPool(std::size_t threads) : pool_(threads) {}
  ~BlockingPool() { stop(); }
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  // Waits for all that was posted; drops nothing.
  void stop() { pool_.join(); }

  // Runs `work` (a callable that returns Result<T>) on a pool thread and resumes the caller on its own
  // executor; the coroutine itself never leaves its thread. Once posted, the work runs to its end also when
  // the caller is cancelled (the caller then still waits for it), so `work` owns whatever it touches. It is
  // destroyed on the pool thread before the caller goes on. An exception of `work` reaches the caller.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
    using R = std::invoke_result_t<Work&>;
    auto start = [this, work = std::move(work)](auto waiting) mutable {
      asio::post(pool_, [waiting = std::move(waiting), work = std::move(work)]() mutable {
        waiting.resume(perform<R>(std::move(work)));
      });
    };
    return suspend_until_resumed<R>(std::move(start));
  }

 private:
  // By value: the work is gone when its outcome is delivered.
  template <class R, class Work>
  static Outcome<R> perform(Work work) {
    return Outcome<R>::of(work);
  }

  asio::thread_pool pool_;
};

}  // namespace mayfly

// Threads for work that blocks (SQLite, the file system, YAML), and the way back to the I/O thread.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "async/task_types.hpp"

namespace mayfly {

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
  // the caller is cancelled (the caller then still waits for it), so `work` owns whatever it touches. An
  // exception of `work` reaches the caller.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
    using R = std::invoke_result_t<Work&>;
    auto initiate = [this](auto handler, Work moved_work) {
      auto executor =
          asio::prefer(asio::get_associated_executor(handler), asio::execution::outstanding_work.tracked);
      asio::post(pool_, [handler = std::move(handler), executor,
                         moved_work = std::move(moved_work)]() mutable {
        std::exception_ptr thrown;
        std::optional<R> result;
        try {
          result.emplace(moved_work());
        } catch (...) {
          thrown = std::current_exception();
        }
        asio::post(executor, [handler = std::move(handler), thrown = std::move(thrown),
                              result = std::move(result)]() mutable { handler(thrown, std::move(result)); });
      });
    };
    auto result = co_await asio::async_initiate<const asio::use_awaitable_t<>,
                                                void(std::exception_ptr, std::optional<R>)>(
        std::move(initiate), asio::use_awaitable, std::move(work));
    co_return std::move(*result);
  }

 private:
  asio::thread_pool pool_;
};

}  // namespace mayfly

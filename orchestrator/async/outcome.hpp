// How work that ran on another thread finds its way back to the coroutine that waits for it. For BlockingPool
// and for the store's commit queue; nobody else completes handlers by hand.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "async/task_types.hpp"

namespace mayfly {

// What the work returned, or what it threw.
template <class R>
struct Outcome {
  std::exception_ptr thrown;
  std::optional<R> value;

  template <class Work, class... Args>
  static Outcome of(Work&& work, Args&... args) {
    Outcome outcome;
    try {
      outcome.value.emplace(work(args...));
    } catch (...) {
      outcome.thrown = std::current_exception();
    }
    return outcome;
  }
};

// A suspended coroutine. Keeps its executor busy until it is resumed. Movable; used once.
template <class R, class Handler>
class Waiting {
 public:
  explicit Waiting(Handler handler)
      : executor_(
            asio::prefer(asio::get_associated_executor(handler), asio::execution::outstanding_work.tracked)),
        handler_(std::move(handler)) {}

  // From any thread: the coroutine goes on, on its own executor, never on this thread.
  void resume(Outcome<R> outcome) {
    asio::post(executor_, [handler = std::move(handler_), outcome = std::move(outcome)]() mutable {
      handler(std::move(outcome.thrown), std::move(outcome.value));
    });
  }

 private:
  using Executor =
      std::decay_t<decltype(asio::prefer(asio::get_associated_executor(std::declval<const Handler&>()),
                                         asio::execution::outstanding_work.tracked))>;
  Executor executor_;
  Handler handler_;
};

// Suspends the caller and calls `start(Waiting<R, …>)`, which must see to its resumption. Not cancellable: a
// cancelled caller waits on, and throws at its next wait.
template <class R, class Start>
asio::awaitable<R> suspend_until_resumed(Start start) {
  auto initiate = [](auto handler, Start begin) { begin(Waiting<R, decltype(handler)>(std::move(handler))); };
  auto value = co_await asio::async_initiate<const asio::use_awaitable_t<>,
                                             void(std::exception_ptr, std::optional<R>)>(
      std::move(initiate), asio::use_awaitable, std::move(start));
  co_return std::move(*value);
}

}  // namespace mayfly

// An I/O thread for a test: the test's own thread, which runs the loop while it waits for a coroutine.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "async/task_types.hpp"

namespace mayfly::test {

class IoLoop {
 public:
  asio::io_context& context() { return context_; }
  asio::any_io_executor executor() { return context_.get_executor(); }

  // Runs the loop until the coroutine has ended; other coroutines go on meanwhile. Rethrows what it threw.
  template <class T>
  T await(asio::awaitable<T> work) {
    std::optional<T> value;
    run(std::move(work), [&value](T result) { value.emplace(std::move(result)); });
    return std::move(*value);
  }
  void await(asio::awaitable<void> work) {
    bool done = false;
    std::exception_ptr thrown;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr failure) {
      thrown = failure;
      done = true;
    });
    run_until(done);
    if (thrown) std::rethrow_exception(thrown);
  }
  // Runs the handlers that are ready, without waiting.
  void poll() {
    context_.restart();
    context_.poll();
  }

 private:
  template <class T, class Take>
  void run(asio::awaitable<T> work, Take take) {
    bool done = false;
    std::exception_ptr thrown;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr failure, T result) {
      thrown = failure;
      if (!failure) take(std::move(result));
      done = true;
    });
    run_until(done);
    if (thrown) std::rethrow_exception(thrown);
  }
  void run_until(const bool& done) {
    context_.restart();
    while (!done) {
      if (context_.run_one() == 0)
        throw std::logic_error("the coroutine waits for something that never comes");
    }
  }

  asio::io_context context_{1};
};

}  // namespace mayfly::test

// Pairs one operation with a timer: the only place that does so.
#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "async/task_types.hpp"

namespace mayfly {
namespace detail {

template <class T>
struct Captured {
  std::exception_ptr thrown;
  std::optional<Result<T>> result;
};

// `||` waits for the first *success*: an operation that throws would be sat out to the deadline, and one that
// is cancelled from outside would surface as multiple_exceptions. So what it throws is carried as a value.
template <class T>
asio::awaitable<Captured<T>> capture(Async<T> operation) {
  Captured<T> captured;
  try {
    captured.result.emplace(co_await std::move(operation));
  } catch (...) {
    captured.thrown = std::current_exception();
  }
  co_return captured;
}

}  // namespace detail

// Runs `operation`; when the deadline comes first the operation is cancelled, awaited, and the result is
// deadline_exceeded with `what` in its message. What cancellation leaves behind is the operation's to say. An
// exception of the operation, and the cancellation of the caller, pass through as they are.
template <class T>
Async<T> with_deadline(Async<T> operation, Deadline deadline, std::string what) {
  using namespace asio::experimental::awaitable_operators;
  if (deadline.is_never()) co_return co_await std::move(operation);
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline.when());
  auto captured = detail::capture<T>(std::move(operation));
  auto outcome = co_await (std::move(captured) || timer.async_wait(asio::use_awaitable));
  if (outcome.index() == 1)
    co_return fail(ErrorCode::deadline_exceeded, what + ": no answer before the deadline");
  auto& ended = std::get<0>(outcome);
  if (ended.thrown) std::rethrow_exception(ended.thrown);
  co_return std::move(*ended.result);
}

// Completes when the deadline passes or the coroutine is cancelled (then it throws, as every cancelled wait
// does).
asio::awaitable<void> sleep_until(Deadline deadline);

}  // namespace mayfly

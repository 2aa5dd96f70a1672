// Pairs one operation with a timer: the only place that does so.
#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <utility>
#include <variant>

#include "async/task_types.hpp"

namespace mayfly {

// Runs `operation`; when the deadline comes first the operation is cancelled, awaited, and the result is
// deadline_exceeded with `what` in its message. What cancellation leaves behind is the operation's to say.
template <class T>
Async<T> with_deadline(Async<T> operation, Deadline deadline, std::string what) {
  using namespace asio::experimental::awaitable_operators;
  if (deadline.is_never()) co_return co_await std::move(operation);
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline.when());
  auto outcome = co_await (std::move(operation) || timer.async_wait(asio::use_awaitable));
  if (outcome.index() == 0) co_return std::move(std::get<0>(outcome));
  co_return fail(ErrorCode::deadline_exceeded, what + ": no answer before the deadline");
}

// Completes when the deadline passes or the coroutine is cancelled (then it throws, as every cancelled wait does).
asio::awaitable<void> sleep_until(Deadline deadline);

}  // namespace mayfly

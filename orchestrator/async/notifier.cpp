#include "async/notifier.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

// A notify cancels the shared timer; that is success here.
Async<> wait_for_cancel(asio::steady_timer& timer) {
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  co_return Result<>{};
}

}  // namespace

asio::awaitable<void> Notifier::wait(Deadline deadline) {
  (void)co_await with_deadline(wait_for_cancel(timer_), deadline, "notifier");
  const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
  if (cancelled != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

}  // namespace mayfly

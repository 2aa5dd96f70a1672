#include "async/with_deadline.hpp"

namespace mayfly {

asio::awaitable<void> sleep_until(Deadline deadline) {
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline.when());
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace mayfly

#include "async/notifier.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace mayfly {

// Stands in the list for as long as its coroutine's frame does.
struct Notifier::Waiter {
  Waiter(const asio::any_io_executor& executor, Deadline deadline, std::shared_ptr<Waiters> waiters)
      : timer(executor, deadline.when()), list(std::move(waiters)), place(list->insert(list->end(), this)) {}
  ~Waiter() { list->erase(place); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  asio::steady_timer timer;
  std::shared_ptr<Waiters> list;
  Waiters::iterator place;
};

Notifier::Notifier(asio::any_io_executor executor)
    : executor_(std::move(executor)), waiters_(std::make_shared<Waiters>()) {}

void Notifier::notify() {
  for (Waiter* waiter : *waiters_) waiter->timer.cancel();
}

asio::awaitable<void> Notifier::wait(Deadline deadline) {
  Waiter waiter(executor_, deadline, waiters_);
  boost::system::error_code ignored;  // a notify cancels the timer; that is success here
  co_await waiter.timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
  if (cancelled != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

}  // namespace mayfly

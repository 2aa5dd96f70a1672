// A condition that coroutines of one strand wait for: raised and lowered, never lost between check and wait.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "async/task_types.hpp"

namespace mayfly {

// All calls from one strand.
class Notifier {
 public:
  explicit Notifier(const asio::any_io_executor& executor) : timer_(executor, MonoTime::max()) {}
  // Wakes every waiter.
  void notify() { timer_.cancel(); }
  // Completes at the next notify, at the deadline, or throws when the coroutine is cancelled. Check the condition in a
  // loop around it.
  asio::awaitable<void> wait(Deadline deadline);

 private:
  asio::steady_timer timer_;
};

}  // namespace mayfly

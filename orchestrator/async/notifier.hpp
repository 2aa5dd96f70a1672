// A condition that coroutines of one strand wait for: raised and lowered, never lost between check and wait.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <memory>

#include "async/task_types.hpp"

namespace mayfly {

// All calls from one strand. Going away wakes every waiter.
class Notifier {
 public:
  explicit Notifier(asio::any_io_executor executor);
  ~Notifier() { notify(); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Wakes every waiter.
  void notify();
  // Completes at the next notify, at the deadline, or throws when the coroutine is cancelled. Check the
  // condition in a loop around it.
  asio::awaitable<void> wait(Deadline deadline);

 private:
  struct Waiter;
  using Waiters = std::list<Waiter*>;

  asio::any_io_executor executor_;
  std::shared_ptr<Waiters> waiters_;  // shared with the waiters: one may be destroyed after the notifier
};

}  // namespace mayfly

// Mutual exclusion between coroutines of one strand. Not fair beyond what the Notifier gives; never blocks a
// thread.
#pragma once

#include "async/notifier.hpp"

namespace mayfly {

class AsyncLock {
 public:
  explicit AsyncLock(const asio::any_io_executor& executor) : released_(executor) {}

  // Holds the lock for its lifetime.
  class Hold {
   public:
    explicit Hold(AsyncLock& lock) : lock_(&lock) {}
    Hold(Hold&& other) noexcept : lock_(other.lock_) { other.lock_ = nullptr; }
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (lock_ == nullptr) return;
      lock_->held_ = false;
      lock_->released_.notify();
    }

   private:
    AsyncLock* lock_;
  };

  asio::awaitable<Hold> acquire() {
    while (held_) co_await released_.wait(Deadline::never());
    held_ = true;
    co_return Hold(*this);
  }

 private:
  bool held_ = false;
  Notifier released_;
};

}  // namespace mayfly

// The coroutine type and the deadline that every I/O function takes. Included everywhere that waits for
// something.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace mayfly {

namespace asio = boost::asio;

template <class T = void>
using Async = asio::awaitable<Result<T>>;

// An absolute point in monotonic time, handed down from the first caller to the last.
class Deadline {
 public:
  static Deadline in(Millis duration) { return Deadline(std::chrono::steady_clock::now() + duration); }
  static Deadline at(MonoTime when) { return Deadline(when); }
  static Deadline never() { return Deadline(MonoTime::max()); }
  MonoTime when() const { return when_; }
  bool is_never() const { return when_ == MonoTime::max(); }
  bool passed() const { return std::chrono::steady_clock::now() >= when_; }
  // The earlier of this and `duration` from now.
  Deadline within(Millis duration) const;

 private:
  explicit Deadline(MonoTime when) : when_(when) {}
  MonoTime when_;
};

inline Deadline Deadline::within(Millis duration) const {
  const Deadline other = in(duration);
  return other.when_ < when_ ? other : *this;
}

}  // namespace mayfly

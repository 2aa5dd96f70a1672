// Background coroutines with an owner: the only place that spawns `detached`.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "async/task_types.hpp"
#include "base/log.hpp"

namespace mayfly {

// What escaped from a coroutine, in words; nothing when it ended by itself or was cancelled.
std::optional<std::string> what_escaped(const std::exception_ptr& thrown);

// Every coroutine it spawns runs on `executor` (one strand: all calls come from there), is named, and its
// escaped exception is logged. Must be drained before it is destroyed.
class Scope {
 public:
  Scope(asio::any_io_executor executor, Logger& log);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The coroutine starts at once, up to its first suspension, or later on the executor.
  void spawn(std::string name, asio::awaitable<void> work);
  // Asks every running coroutine to end: its next wait throws system_error(operation_aborted).
  void cancel();
  // Completes when none is left.
  asio::awaitable<void> drain();
  std::size_t running() const;
  const asio::any_io_executor& executor() const { return executor_; }

 private:
  struct Child;
  using Children = std::list<std::shared_ptr<Child>>;
  void finished(Children::iterator child, const std::exception_ptr& thrown);

  asio::any_io_executor executor_;
  Logger& log_;
  Children children_;
  asio::steady_timer drained_;
};

}  // namespace mayfly

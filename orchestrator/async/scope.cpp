#include "async/scope.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cassert>
#include <optional>
#include <vector>

namespace mayfly {

std::optional<std::string> what_escaped(const std::exception_ptr& thrown) {
  if (!thrown) return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) return std::nullopt;
    return error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

struct Scope::Child {
  std::string name;
  asio::cancellation_signal signal;
};

Scope::Scope(asio::any_io_executor executor, Logger& log)
    : executor_(std::move(executor)), log_(log), drained_(executor_, MonoTime::max()) {}

Scope::~Scope() {
  assert(children_.empty() && "a scope must be drained before it is destroyed");
}

void Scope::spawn(std::string name, asio::awaitable<void> work) {
  auto child = children_.insert(children_.end(), std::make_shared<Child>());
  (*child)->name = std::move(name);
  auto on_end = [this, child](const std::exception_ptr& thrown) { finished(child, thrown); };
  asio::co_spawn(executor_, std::move(work),
                 asio::bind_cancellation_slot((*child)->signal.slot(), std::move(on_end)));
}

void Scope::finished(Children::iterator child, const std::exception_ptr& thrown) {
  if (const auto failure = what_escaped(thrown)) {
    log_.error("scope", "a background coroutine failed", {{"name", (*child)->name}, {"what", *failure}});
  }
  children_.erase(child);
  if (children_.empty()) drained_.cancel();
}

void Scope::cancel() {
  // A child may end, and so leave the list, while a signal is emitted: the copy keeps the signals alive until
  // then.
  const std::vector<std::shared_ptr<Child>> running(children_.begin(), children_.end());
  for (const auto& child : running) child->signal.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> Scope::drain() {
  while (!children_.empty()) {
    boost::system::error_code ignored;
    co_await drained_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

std::size_t Scope::running() const {
  return children_.size();
}

}  // namespace mayfly

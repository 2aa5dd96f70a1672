#include "async/notifier.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/system_error.hpp>
#include <catch2/catch.hpp>
#include <memory>

#include "support/io_loop.hpp"

namespace mayfly {
namespace {

using test::IoLoop;

asio::awaitable<void> wait_and_count(Notifier& notifier, Deadline deadline, int& woken) {
  co_await notifier.wait(deadline);
  ++woken;
}

void spawn(IoLoop& loop, asio::awaitable<void> work) {
  asio::co_spawn(loop.context(), std::move(work), [](std::exception_ptr thrown) { REQUIRE_FALSE(thrown); });
}

TEST_CASE("notifier wakes every waiter and none that comes later") {
  IoLoop loop;
  Notifier notifier(loop.executor());
  int woken = 0;
  for (int i = 0; i < 3; ++i) spawn(loop, wait_and_count(notifier, Deadline::never(), woken));
  loop.poll();
  CHECK(woken == 0);
  notifier.notify();
  loop.poll();
  CHECK(woken == 3);
  spawn(loop, wait_and_count(notifier, Deadline::never(), woken));
  loop.poll();
  CHECK(woken == 3);
  notifier.notify();
  loop.poll();
  CHECK(woken == 4);
}

TEST_CASE("notifier wakes a waiter with a deadline as well") {
  IoLoop loop;
  Notifier notifier(loop.executor());
  int woken = 0;
  spawn(loop, wait_and_count(notifier, Deadline::in(std::chrono::hours(1)), woken));
  loop.poll();
  CHECK(woken == 0);
  notifier.notify();
  loop.poll();
  CHECK(woken == 1);
}

TEST_CASE("notifier completes at the deadline when nobody notifies") {
  IoLoop loop;
  Notifier notifier(loop.executor());
  int woken = 0;
  loop.await(wait_and_count(notifier, Deadline::in(Millis(1)), woken));
  CHECK(woken == 1);
}

// Hands a number over, with nothing between the check of the condition and the wait: a lost notify hangs the
// test.
struct Mailbox {
  explicit Mailbox(const asio::any_io_executor& executor) : changed(executor) {}
  Notifier changed;
  int full = 0;
};

asio::awaitable<void> put(Mailbox& box, int count) {
  for (int i = 1; i <= count; ++i) {
    while (box.full != 0) co_await box.changed.wait(Deadline::in(std::chrono::hours(1)));
    box.full = i;
    box.changed.notify();
  }
}

asio::awaitable<long> take(Mailbox& box, int count) {
  long sum = 0;
  for (int i = 1; i <= count; ++i) {
    while (box.full == 0) co_await box.changed.wait(Deadline::in(std::chrono::hours(1)));
    sum += std::exchange(box.full, 0);
    box.changed.notify();
  }
  co_return sum;
}

TEST_CASE("notifier loses no wake-up between two coroutines that pass a thousand values") {
  IoLoop loop;
  Mailbox box(loop.executor());
  spawn(loop, put(box, 1000));
  CHECK(loop.await(take(box, 1000)) == 500'500);
}

TEST_CASE("notifier throws in a cancelled waiter and leaves the others waiting") {
  IoLoop loop;
  Notifier notifier(loop.executor());
  int woken = 0;
  bool aborted = false;
  asio::cancellation_signal cancel;
  auto on_end = [&aborted](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& error) {
      aborted = error.code() == asio::error::operation_aborted;
    }
  };
  asio::co_spawn(loop.context(), wait_and_count(notifier, Deadline::in(std::chrono::hours(1)), woken),
                 asio::bind_cancellation_slot(cancel.slot(), on_end));
  spawn(loop, wait_and_count(notifier, Deadline::never(), woken));
  loop.poll();
  cancel.emit(asio::cancellation_type::terminal);
  loop.poll();
  CHECK(aborted);
  CHECK(woken == 0);
  notifier.notify();
  loop.poll();
  CHECK(woken == 1);
}

TEST_CASE("notifier that goes away wakes who still waits") {
  IoLoop loop;
  auto notifier = std::make_unique<Notifier>(loop.executor());
  int woken = 0;
  spawn(loop, wait_and_count(*notifier, Deadline::never(), woken));
  loop.poll();
  notifier.reset();
  loop.poll();
  CHECK(woken == 1);
}

TEST_CASE("notifier may outlive the loop that its waiters stood in") {
  auto loop = std::make_unique<IoLoop>();
  Notifier notifier(loop->executor());
  int woken = 0;
  spawn(*loop, wait_and_count(notifier, Deadline::never(), woken));
  loop->poll();
  loop.reset();  // destroys the suspended coroutine, which leaves the notifier's list
  notifier.notify();
  CHECK(woken == 0);
}

}  // namespace
}  // namespace mayfly

#include "async/blocking_pool.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/io_loop.hpp"

namespace mayfly {
namespace {

using test::IoLoop;

Async<std::thread::id> thread_of_work(BlockingPool& pool) {
  auto work = []() -> Result<std::thread::id> { return std::this_thread::get_id(); };
  co_return co_await pool.run(std::move(work));
}

TEST_CASE("blocking pool runs the work on a thread of its own and resumes the caller on the I/O thread") {
  IoLoop loop;
  BlockingPool pool(1);
  std::thread::id resumed_on;
  auto caller = [](BlockingPool& threads, std::thread::id& resumed) -> Async<std::thread::id> {
    auto worker = co_await thread_of_work(threads);
    resumed = std::this_thread::get_id();
    co_return worker;
  };
  const auto worker = loop.await(caller(pool, resumed_on));
  REQUIRE(worker.has_value());
  CHECK(*worker != std::this_thread::get_id());
  CHECK(resumed_on == std::this_thread::get_id());
}

TEST_CASE("blocking pool hands an error of the work to its caller") {
  IoLoop loop;
  BlockingPool pool(1);
  auto work = []() -> Result<int> { return fail(ErrorCode::disk_full, "no room"); };
  const auto result = loop.await(pool.run(work));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::disk_full);
}

TEST_CASE("blocking pool hands an exception of the work to its caller") {
  IoLoop loop;
  BlockingPool pool(1);
  auto work = []() -> Result<int> { throw std::runtime_error("a bug"); };
  CHECK_THROWS_AS(loop.await(pool.run(work)), std::runtime_error);
  auto next = []() -> Result<int> { return 7; };
  CHECK(loop.await(pool.run(next)) == 7);
}

TEST_CASE("blocking pool takes work that can only be moved and is rid of it before the caller goes on") {
  IoLoop loop;
  BlockingPool pool(1);
  auto owned = std::make_shared<int>(42);
  const std::weak_ptr<int> watched = owned;
  auto work = [owned = std::move(owned), moved = std::make_unique<int>(1)]() -> Result<int> {
    return *owned + *moved;
  };
  CHECK(loop.await(pool.run(std::move(work))) == 43);
  CHECK(watched.expired());
}

TEST_CASE("blocking pool lets a cancelled caller wait for the end of its work and throw only afterwards") {
  IoLoop loop;
  BlockingPool pool(1);
  std::promise<void> may_end;
  bool ended_before_throw = false;
  bool aborted = false;
  auto caller = [](BlockingPool& threads, std::shared_future<void> gate,
                   bool& ended) -> asio::awaitable<void> {
    auto work = [gate]() -> Result<int> {
      gate.wait();
      return 1;
    };
    ended = (co_await threads.run(work)).has_value();
    auto again = []() -> Result<int> { return 2; };
    (void)co_await threads.run(again);
    ended = false;  // never reached: the cancelled coroutine throws at its next wait
  };
  asio::cancellation_signal cancel;
  auto on_end = [&aborted](std::exception_ptr thrown) { aborted = thrown != nullptr; };
  asio::co_spawn(loop.context(), caller(pool, may_end.get_future().share(), ended_before_throw),
                 asio::bind_cancellation_slot(cancel.slot(), on_end));
  loop.poll();
  cancel.emit(asio::cancellation_type::terminal);
  loop.poll();
  CHECK_FALSE(aborted);
  may_end.set_value();
  loop.context().restart();
  loop.context().run();
  CHECK(ended_before_throw);
  CHECK(aborted);
}

asio::awaitable<void> add_squares(BlockingPool& pool, int from, int count, long& sum) {
  for (int i = from; i < from + count; ++i) {
    auto work = [i]() -> Result<long> { return static_cast<long>(i) * i; };
    const auto square = co_await pool.run(work);
    sum += *square;
  }
}

TEST_CASE("blocking pool serves many coroutines at once without losing one") {
  IoLoop loop;
  BlockingPool pool(4);
  constexpr int kCallers = 50;
  constexpr int kEach = 40;
  long sum = 0;
  int ended = 0;
  for (int i = 0; i < kCallers; ++i) {
    asio::co_spawn(loop.context(), add_squares(pool, i * kEach, kEach, sum),
                   [&ended](std::exception_ptr thrown) { ended += thrown ? 0 : 1; });
  }
  loop.context().run();
  const long n = static_cast<long>(kCallers) * kEach - 1;
  CHECK(ended == kCallers);
  CHECK(sum == n * (n + 1) * (2 * n + 1) / 6);
}

TEST_CASE("blocking pool runs all that was posted before it stops") {
  IoLoop loop;
  BlockingPool pool(1);
  std::atomic<int> ran = 0;
  for (int i = 0; i < 100; ++i) {
    auto work = [&ran]() -> Result<int> { return ++ran; };
    asio::co_spawn(loop.context(), pool.run(work), [](std::exception_ptr, const Result<int>&) {});
  }
  loop.poll();
  pool.stop();
  CHECK(ran == 100);
  loop.context().restart();
  loop.context().run();
}

}  // namespace
}  // namespace mayfly

#include "async/scope.hpp"

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "async/notifier.hpp"
#include "async/with_deadline.hpp"
#include "support/io_loop.hpp"

namespace mayfly {
namespace {

using test::IoLoop;

class RecordingLogger final : public Logger {
 public:
  void write(LogLevel level, std::string_view, std::string_view,
             std::initializer_list<Field> fields) override {
    std::string line = level == LogLevel::error ? "error" : "other";
    for (const auto& [key, value] : fields) line += " " + std::string(key) + "=" + value;
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

asio::awaitable<void> wait_for_ever(int& ended) {
  struct Counter {
    int& count;
    ~Counter() { ++count; }
  } counter{ended};
  co_await sleep_until(Deadline::never());
}

asio::awaitable<void> fail_with_bug() {
  throw std::runtime_error("a bug");
  co_return;
}

TEST_CASE("scope runs what it spawns and is drained when all has ended") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  int ran = 0;
  auto work = [](int& count) -> asio::awaitable<void> {
    ++count;
    co_return;
  };
  scope.spawn("first", work(ran));
  scope.spawn("second", work(ran));
  loop.await(scope.drain());
  CHECK(ran == 2);
  CHECK(scope.running() == 0);
  CHECK(log.lines.empty());
}

TEST_CASE("scope cancels what still waits without calling it a failure") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  int ended = 0;
  for (int i = 0; i < 5; ++i) scope.spawn("waiter", wait_for_ever(ended));
  loop.poll();
  CHECK(scope.running() == 5);
  scope.cancel();
  loop.await(scope.drain());
  CHECK(ended == 5);
  CHECK(log.lines.empty());
}

Async<> hang() {
  co_await sleep_until(Deadline::never());
  co_return Result<>{};
}

asio::awaitable<void> hang_with_deadline() {
  (void)co_await with_deadline(hang(), Deadline::in(std::chrono::hours(1)), "hang");
}

TEST_CASE("scope takes a cancelled wait below a deadline for what it is") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  scope.spawn("waiter", hang_with_deadline());
  loop.poll();
  scope.cancel();
  loop.await(scope.drain());
  CHECK(log.lines.empty());
}

TEST_CASE("scope logs the name and the words of an exception that escapes") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  scope.spawn("reaper", fail_with_bug());
  loop.await(scope.drain());
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines.front() == "error name=reaper what=a bug");
}

asio::awaitable<void> drain_and_mark(Scope& scope, bool& drained) {
  co_await scope.drain();
  drained = true;
}

TEST_CASE("scope drain waits also for what is spawned while it waits") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  bool drained = false;
  int ended = 0;
  scope.spawn("first", wait_for_ever(ended));
  asio::co_spawn(loop.context(), drain_and_mark(scope, drained), [](std::exception_ptr) {});
  loop.poll();
  scope.cancel();
  scope.spawn("second", wait_for_ever(ended));
  loop.poll();
  CHECK(ended == 1);
  CHECK_FALSE(drained);
  scope.cancel();
  loop.poll();
  CHECK(ended == 2);
  CHECK(drained);
}

asio::awaitable<void> wake_on_cancel(Notifier& other) {
  struct Waker {
    Notifier& notifier;
    ~Waker() { notifier.notify(); }
  } waker{other};
  co_await sleep_until(Deadline::never());
}

asio::awaitable<void> wait_for(Notifier& notifier) {
  co_await notifier.wait(Deadline::never());
}

TEST_CASE("scope survives a child that ends while another is being cancelled") {
  IoLoop loop;
  RecordingLogger log;
  Scope scope(loop.executor(), log);
  Notifier woken(loop.executor());
  for (int i = 0; i < 10; ++i) {
    scope.spawn("waker", wake_on_cancel(woken));
    scope.spawn("woken", wait_for(woken));
  }
  loop.poll();
  // From inside the loop, where a cancelled child may be resumed at once.
  asio::post(loop.context(), [&scope] { scope.cancel(); });
  loop.await(scope.drain());
  CHECK(scope.running() == 0);
  CHECK(log.lines.empty());
}

}  // namespace
}  // namespace mayfly

#include "lifecycle/scheduler.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

Granted share(std::int64_t millicpus, Bytes memory) {
  return {.millicpus = millicpus, .memory = memory, .pids = 10};
}
TaskId task(int n) {
  return TaskId("tsk_" + std::to_string(n));
}

Scheduler make_scheduler() {
  Scheduler scheduler;
  scheduler.set_capacity({.sandboxes = 3, .millicpus = 4000, .memory = 4_GiB});
  return scheduler;
}

}  // namespace

TEST_CASE("tasks start by priority and then by arrival") {
  Scheduler scheduler = make_scheduler();
  scheduler.enqueue(task(1), 0, share(1000, 1_GiB));
  scheduler.enqueue(task(2), 5, share(1000, 1_GiB));
  scheduler.enqueue(task(3), 0, share(1000, 1_GiB));
  REQUIRE(scheduler.position(task(3)) == 3);
  REQUIRE(scheduler.take_next() == task(2));
  REQUIRE(scheduler.take_next() == task(1));
  REQUIRE(scheduler.position(task(3)) == 1);
  REQUIRE(scheduler.take_next() == task(3));
  REQUIRE(scheduler.take_next() == std::nullopt);
}

TEST_CASE("no more starts than the node can hold and a release makes room") {
  Scheduler scheduler = make_scheduler();
  for (int n = 0; n < 5; ++n) scheduler.enqueue(task(n), 0, share(500, 1_GiB));
  for (int n = 0; n < 3; ++n) REQUIRE(scheduler.take_next() == task(n));
  REQUIRE(scheduler.take_next() == std::nullopt);  // three sandboxes
  scheduler.release(task(1));
  REQUIRE(scheduler.take_next() == task(3));
  scheduler.release(task(1));  // once is enough
  REQUIRE(scheduler.take_next() == std::nullopt);
  REQUIRE(scheduler.running() == 3);
}

TEST_CASE("a head that does not fit does not block what does but is not passed over for ever") {
  Scheduler scheduler = make_scheduler();
  scheduler.reserve(task(1000), share(3000, 1_GiB));
  scheduler.enqueue(task(0), 0, share(2000, 1_GiB));
  int passed = 0;
  for (int n = 1; n < 400; ++n) {
    scheduler.enqueue(task(n), 0, share(500, 1_GiB));
    const auto next = scheduler.take_next();
    if (!next) break;
    REQUIRE(next != task(0));
    scheduler.release(*next);
    ++passed;
  }
  REQUIRE(passed == 256);
  scheduler.release(task(1000));
  REQUIRE(scheduler.take_next() == task(0));
}

TEST_CASE("a task that can never fit is known beforehand") {
  const Scheduler scheduler = make_scheduler();
  REQUIRE(scheduler.could_fit(share(4000, 4_GiB)));
  REQUIRE_FALSE(scheduler.could_fit(share(4001, 1_GiB)));
  REQUIRE_FALSE(scheduler.could_fit(share(1, 5_GiB)));
  REQUIRE_FALSE(Scheduler().could_fit(share(0, Bytes{})));
}

TEST_CASE("a task is queued once and leaves the queue when it is removed") {
  Scheduler scheduler = make_scheduler();
  scheduler.enqueue(task(1), 0, share(1, 1_MiB));
  scheduler.enqueue(task(1), 0, share(1, 1_MiB));
  REQUIRE(scheduler.queued() == 1);
  REQUIRE(scheduler.remove(task(1)));
  REQUIRE_FALSE(scheduler.remove(task(1)));
  REQUIRE(scheduler.take_next() == std::nullopt);
}

// What is acknowledged is there after a SIGKILL or a full disk.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "store_fixture.hpp"
#include "support/small_disk.hpp"

namespace mayfly {
namespace {

using namespace test;

constexpr std::size_t kIdBytes = 30;
constexpr std::array kSteps{TaskState::starting, TaskState::running, TaskState::finalizing};

// For ever: a task, saved three times with an event each; then its id goes to the pipe.
asio::awaitable<void> submit_for_ever(TaskStore& store, int acknowledged) {
  for (;;) {
    std::vector<NewEvent> events(1, make_event("task.queued"));
    auto outcome = co_await store.insert_task(make_task(), events, std::nullopt);
    TaskRecord task = outcome->task;
    for (const TaskState state : kSteps) {
      task.state = state;
      auto revision = co_await store.save(task, std::nullopt, events);
      task.revision = *revision;
    }
    if (write(acknowledged, task.id.str().data(), kIdBytes) != static_cast<ssize_t>(kIdBytes)) _exit(1);
  }
}

[[noreturn]] void serve_until_killed(const std::filesystem::path& data_dir, int acknowledged) {
  const SystemClock clock;
  Metrics metrics;
  asio::io_context io;
  auto store = open_sqlite_task_store(data_dir, clock, metrics);
  if (!store) _exit(2);
  for (int i = 0; i < 8; ++i) {
    asio::co_spawn(io, submit_for_ever(**store, acknowledged), [](std::exception_ptr) { _exit(3); });
  }
  io.run();
  _exit(4);
}

// Kills the server after `count` acknowledgements and returns all that it gave.
std::vector<TaskId> run_and_kill(const std::filesystem::path& data_dir, std::size_t count) {
  std::array<int, 2> ends{};
  must(pipe(ends.data()), "pipe");
  const pid_t server = fork();
  if (server == 0) serve_until_killed(data_dir, ends[1]);
  close(ends[1]);
  std::vector<TaskId> acknowledged;
  std::array<char, kIdBytes> id{};
  // At the end of the pipe the server is dead: what it acknowledged in its last moment counts as well.
  while (read(ends[0], id.data(), id.size()) == static_cast<ssize_t>(id.size())) {
    acknowledged.emplace_back(std::string(id.data(), id.size()));
    if (acknowledged.size() == count) kill(server, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  waitpid(server, &status, 0);
  CHECK(WIFSIGNALED(status));
  return acknowledged;
}

TEST_CASE("F31 store has every acknowledged call after a SIGKILL at a random moment") {
  const TempDir dir;
  const auto seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<TaskId> acknowledged;
  for (int round = 0; round < 6; ++round) {
    const auto more = run_and_kill(dir.path() / "data", 1 + random() % 60);
    acknowledged.insert(acknowledged.end(), more.begin(), more.end());
    IoLoop loop;
    const SystemClock clock;
    Metrics metrics;
    const auto store = open_sqlite_task_store(dir.path() / "data", clock, metrics);
    REQUIRE(store.has_value());
    for (const TaskId& id : acknowledged) {
      const auto task = loop.await((*store)->get_task(id));
      REQUIRE(task.has_value());
      CHECK(task->state == TaskState::finalizing);
    }
    // Also of what was under way each call stands as a whole: one event a revision.
    const auto unfinished = loop.await((*store)->unfinished_tasks());
    for (const TaskRecord& task : *unfinished) {
      CHECK(loop.await((*store)->events_after(task.id, 0, 100))->size() == task.revision);
    }
  }
}

TEST_CASE("F31 store refuses on a full disk with nothing half made and goes on when there is room again") {
  const bool ran = on_small_disk(8_MiB, [](const std::filesystem::path& disk) {
    IoLoop loop;
    const SystemClock clock;
    Metrics metrics;
    auto opened = open_sqlite_task_store(disk / "data", clock, metrics);
    REQUIRE(opened.has_value());
    const auto filler = fill_disk(disk, 256_KiB);
    TaskRecord task = make_task();
    task.spec.command.clear();
    task.spec.script.assign(20'000, 's');
    std::set<TaskId> stored;
    ErrorCode refused{};
    for (int i = 0; i < 1000; ++i) {
      task.id = make_id<TaskId>();
      const auto outcome =
          loop.await((*opened)->insert_task(task, {make_event("task.queued")}, std::nullopt));
      if (!outcome) {
        refused = outcome.error().code;
        break;
      }
      stored.insert(task.id);
    }
    CHECK(refused == ErrorCode::disk_full);
    CHECK_FALSE(stored.empty());
    CHECK(code_of(loop.await((*opened)->get_task(task.id))) == ErrorCode::not_found);
    for (const TaskId& id : stored) CHECK(loop.await((*opened)->get_task(id)).has_value());

    std::filesystem::remove(filler);
    CHECK(loop.await((*opened)->insert_task(task, {make_event("task.queued")}, std::nullopt)).has_value());
    opened->reset();
    const auto again = open_sqlite_task_store(disk / "data", clock, metrics);
    REQUIRE(again.has_value());
    CHECK(loop.await((*again)->unfinished_tasks())->size() == stored.size() + 1);
  });
  if (!ran) WARN("not run: mounting a tmpfs takes root");
}

}  // namespace
}  // namespace mayfly

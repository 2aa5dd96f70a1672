// Pages, filters and retention of the task store.
#include <catch2/catch.hpp>
#include <set>

#include "store_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

std::vector<TaskId> ids_of(const Result<TaskPage>& page) {
  std::vector<TaskId> ids;
  for (const TaskRecord& task : page->tasks) ids.push_back(task.id);
  return ids;
}

TEST_CASE_METHOD(StoreFixture, "store pages through all tasks newest first and each once") {
  std::vector<TaskId> inserted;
  for (int i = 0; i < 25; ++i) inserted.push_back(insert().id);
  std::vector<TaskId> seen;
  std::optional<TaskId> cursor;
  int pages = 0;
  do {
    const auto page = await(store->list_tasks({}, 10, cursor));
    const auto ids = ids_of(page);
    seen.insert(seen.end(), ids.begin(), ids.end());
    cursor = page->next;
    ++pages;
  } while (cursor);
  CHECK(pages == 3);
  std::reverse(seen.begin(), seen.end());
  CHECK(seen == inserted);
}

TEST_CASE_METHOD(StoreFixture, "store goes on behind a cursor whose task retention removed") {
  std::vector<TaskRecord> tasks;
  for (int i = 0; i < 6; ++i) tasks.push_back(insert());
  const auto page = await(store->list_tasks({}, 3, std::nullopt));
  REQUIRE(page->next == tasks[3].id);
  end(tasks[3], clock.wall());
  clock.advance(Millis(1));
  REQUIRE(remove_finished_before(clock.wall(), 1)->size() == 1);
  CHECK(ids_of(await(store->list_tasks({}, 3, page->next))) ==
        std::vector<TaskId>{tasks[2].id, tasks[1].id, tasks[0].id});
}

TEST_CASE_METHOD(StoreFixture, "store ends a page early rather than hold megabytes of specs") {
  TaskRecord big = make_task();
  big.spec.command.clear();
  big.spec.script.assign(1U << 20U, 's');
  std::set<TaskId> inserted;
  for (int i = 0; i < 11; ++i) {
    big.id = make_id<TaskId>();
    inserted.insert(insert(big).id);
  }
  std::set<TaskId> seen;
  std::optional<TaskId> cursor;
  do {
    const auto page = await(store->list_tasks({}, 100, cursor));
    REQUIRE(page->tasks.size() <= 9);
    for (const TaskRecord& task : page->tasks) seen.insert(task.id);
    cursor = page->next;
  } while (cursor);
  CHECK(seen == inserted);
}

TEST_CASE_METHOD(StoreFixture, "store filters by tenant state labels and time together") {
  TaskRecord task = make_task("acme");
  task.spec.labels = {{"team", "a"}, {"env", "prod"}};
  task.times.submitted = WallTime(Millis(5000));
  const TaskId wanted = insert(task).id;
  const auto insert_other = [&](auto change) {
    TaskRecord other = task;
    other.id = make_id<TaskId>();
    change(other);
    insert(other);
  };
  insert_other([](TaskRecord& other) { other.tenant = TenantId("globex"); });
  insert_other([](TaskRecord& other) { other.spec.labels["team"] = "b"; });
  insert_other([](TaskRecord& other) { other.spec.labels.erase("env"); });
  insert_other([](TaskRecord& other) { other.state = TaskState::running; });
  insert_other([](TaskRecord& other) { other.times.submitted = WallTime(Millis(4999)); });
  insert_other([](TaskRecord& other) { other.times.submitted = WallTime(Millis(6000)); });
  const TaskFilter filter{.tenant = TenantId("acme"),
                          .states = {TaskState::queued, TaskState::held},
                          .labels = {{"team", "a"}, {"env", "prod"}},
                          .submitted_after = WallTime(Millis(5000)),
                          .submitted_before = WallTime(Millis(6000))};
  CHECK(ids_of(await(store->list_tasks(filter, 10, std::nullopt))) == std::vector<TaskId>{wanted});
  CHECK(await(store->list_tasks({}, 10, std::nullopt))->tasks.size() == 7);
  const TaskFilter running{.tenant = {},
                           .states = {TaskState::running},
                           .labels = {},
                           .submitted_after = {},
                           .submitted_before = {}};
  CHECK(await(store->list_tasks(running, 10, std::nullopt))->tasks.size() == 1);
}

TEST_CASE_METHOD(StoreFixture, "store treats hostile filter values as values") {
  insert();
  const TaskFilter filter{.tenant = TenantId("' OR 1=1 --"),
                          .states = {},
                          .labels = {{"a' OR '1'='1", "%"}},
                          .submitted_after = {},
                          .submitted_before = {}};
  CHECK(await(store->list_tasks(filter, 10, std::nullopt))->tasks.empty());
}

TEST_CASE_METHOD(StoreFixture, "store removes finished tasks oldest verdict first and with all their rows") {
  std::vector<TaskRecord> ended;
  for (int i = 0; i < 4; ++i) {
    TaskRecord task = insert();
    REQUIRE(await(store->save_attempt(make_attempt(task.id))).has_value());
    REQUIRE(await(store->save_artifacts(task.id, {{.path = "a", .sha256 = "x"}})).has_value());
    ended.push_back(end(task, WallTime(Millis(10'000 - i))));
  }
  TaskRecord dirty = insert();
  dirty.cleanup_pending = true;
  end(dirty, WallTime(Millis(1)));
  insert();
  const auto removed = remove_finished_before(WallTime(Millis(10'000)), 2);
  CHECK(*removed == std::vector<TaskId>{ended[3].id, ended[2].id});
  CHECK(*remove_finished_before(WallTime(Millis(10'000)), 10) == std::vector<TaskId>{ended[1].id});
  CHECK(remove_finished_before(WallTime(Millis(10'000)), 10)->empty());
  CHECK(code_of(await(store->get_task(ended[1].id))) == ErrorCode::not_found);
  CHECK(code_of(await(store->artifacts_of(ended[1].id))) == ErrorCode::not_found);
  CHECK(await(store->list_tasks({}, 10, std::nullopt))->tasks.size() == 3);
}

TEST_CASE_METHOD(StoreFixture, "store gives a rejected task without a verdict time a time to be removed by") {
  TaskRecord task = insert();
  task.state = TaskState::rejected;
  REQUIRE(await(store->save(task, std::nullopt, {})).has_value());
  CHECK(remove_finished_before(clock.wall(), 10)->empty());
  clock.advance(Millis(1));
  CHECK(remove_finished_before(clock.wall(), 10)->size() == 1);
}

}  // namespace
}  // namespace mayfly

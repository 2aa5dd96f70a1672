// Tasks, attempts and verdicts in the task store.
#include <catch2/catch.hpp>

#include "store_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

TEST_CASE_METHOD(StoreFixture, "store returns a task as it was inserted also after a restart") {
  TaskRecord task = make_task("acme");
  task.spec.inputs = {{.path = "bin \"q\".dat", .content = std::string("a\0b\xfe", 4)}};
  task.spec.env = {{"K", "line\nline"}};
  task.spec.labels = {{"team", "a"}};
  task.message = "not utf-8: \xff";
  task.limits.pids = 77;
  const TaskRecord inserted = insert(task);
  CHECK(inserted.revision == 1);
  reopen();
  const auto found = await(store->get_task(task.id));
  REQUIRE(found.has_value());
  CHECK(to_stored_json(*found) == to_stored_json(inserted));
  CHECK(found->spec == task.spec);
}

TEST_CASE_METHOD(StoreFixture, "store says not_found for what it never saw") {
  const auto id = make_id<TaskId>();
  CHECK(code_of(await(store->get_task(id))) == ErrorCode::not_found);
  CHECK(code_of(await(store->attempts_of(id))) == ErrorCode::not_found);
  CHECK(code_of(await(store->events_after(id, 0, 10))) == ErrorCode::not_found);
  CHECK(code_of(await(store->artifacts_of(id))) == ErrorCode::not_found);
  CHECK(code_of(await(store->usage_of(id, 10))) == ErrorCode::not_found);
  CHECK(code_of(await(store->save(make_task(), std::nullopt, {}))) == ErrorCode::not_found);
  CHECK(code_of(await(store->save_attempt(make_attempt(id)))) == ErrorCode::not_found);
  CHECK(code_of(await(store->save_artifacts(id, {}))) == ErrorCode::not_found);
  CHECK(code_of(await(store->add_usage_samples(id, {}))) == ErrorCode::not_found);
  const auto attempt = await(store->find_attempt_by_sandbox(make_id<SandboxId>()));
  REQUIRE(attempt.has_value());
  CHECK_FALSE(attempt->has_value());
}

TEST_CASE_METHOD(StoreFixture, "store refuses a second task with the same id") {
  const TaskRecord task = insert();
  CHECK(code_of(await(store->insert_task(task, {}, std::nullopt))) == ErrorCode::conflict);
}

TEST_CASE_METHOD(StoreFixture, "store raises the revision with each save and refuses an older one") {
  TaskRecord task = insert();
  const TaskRecord stale = task;
  task.state = TaskState::starting;
  const auto saved = await(store->save(task, std::nullopt, {}));
  REQUIRE(saved.has_value());
  CHECK(*saved == 2);
  CHECK(code_of(await(store->save(stale, std::nullopt, {make_event("task.lost")}))) == ErrorCode::conflict);
  const auto found = await(store->get_task(task.id));
  CHECK(found->state == TaskState::starting);
  CHECK(found->revision == 2);
  CHECK(await(store->events_after(task.id, 0, 10))->empty());
}

TEST_CASE_METHOD(StoreFixture, "store keeps a verdict whatever is saved afterwards") {
  const TaskRecord ended = end(insert(), clock.wall());
  const auto refused = [&](auto change) {
    TaskRecord task = ended;
    change(task);
    return code_of(await(store->save(task, std::nullopt, {}))) == ErrorCode::conflict;
  };
  CHECK(refused([](TaskRecord& task) { task.state = TaskState::failed; }));
  CHECK(refused([](TaskRecord& task) { task.state = TaskState::running; }));
  CHECK(refused([](TaskRecord& task) { task.reason = Reason::oom_killed; }));
  CHECK(refused([](TaskRecord& task) { task.exit_code = 1; }));
  CHECK(refused([](TaskRecord& task) { task.exit_code.reset(); }));
  CHECK(refused([](TaskRecord& task) { task.signal = 9; }));
  CHECK(refused([](TaskRecord& task) { task.message = "other"; }));
  TaskRecord cleaned = ended;
  cleaned.times.destroyed = clock.wall();
  CHECK(await(store->save(cleaned, std::nullopt, {make_event("sandbox.destroyed")})).has_value());
  CHECK(await(store->get_task(ended.id))->times.destroyed == clock.wall());
}

TEST_CASE_METHOD(StoreFixture, "store saves a task with its attempt or neither") {
  TaskRecord task = insert();
  AttemptRecord attempt = make_attempt(task.id);
  attempt.epoch = 7;
  attempt.bind_intent = true;
  const auto saved = await(store->save(task, attempt, {}));
  REQUIRE(saved.has_value());
  task.revision = *saved;
  AttemptRecord same_sandbox = make_attempt(task.id, 2);
  same_sandbox.sandbox = attempt.sandbox;
  task.state = TaskState::running;
  CHECK(code_of(await(store->save(task, same_sandbox, {make_event("x")}))) == ErrorCode::conflict);
  CHECK(await(store->get_task(task.id))->state == TaskState::queued);
  CHECK(await(store->events_after(task.id, 0, 10))->empty());
  const auto attempts = await(store->attempts_of(task.id));
  REQUIRE(attempts->size() == 1);
  CHECK(to_stored_json(attempts->front()) == to_stored_json(attempt));
}

TEST_CASE_METHOD(StoreFixture, "store updates an attempt and finds it by its sandbox") {
  const TaskRecord task = insert();
  AttemptRecord first = make_attempt(task.id, 1);
  AttemptRecord second = make_attempt(task.id, 2);
  REQUIRE(await(store->save_attempt(second)).has_value());
  REQUIRE(await(store->save_attempt(first)).has_value());
  first.state = AttemptState::running;
  first.epoch = 0xFFFF'FFFF'FFFF'FFFF;
  REQUIRE(await(store->save_attempt(first)).has_value());
  reopen();
  const auto attempts = await(store->attempts_of(task.id));
  REQUIRE(attempts->size() == 2);
  CHECK(to_stored_json((*attempts)[0]) == to_stored_json(first));
  CHECK((*attempts)[1].id == second.id);
  const auto found = await(store->find_attempt_by_sandbox(second.sandbox));
  REQUIRE(found->has_value());
  CHECK((*found)->id == second.id);
}

TEST_CASE_METHOD(StoreFixture, "store lists what a start-up must work through oldest first") {
  const TaskRecord first = insert();
  TaskRecord dirty = insert();
  dirty.cleanup_pending = true;
  const TaskRecord second = insert();
  dirty = end(dirty, clock.wall());
  end(insert(), clock.wall());
  const auto unfinished = await(store->unfinished_tasks());
  REQUIRE(unfinished->size() == 3);
  CHECK((*unfinished)[0].id == first.id);
  CHECK((*unfinished)[1].id == dirty.id);
  CHECK((*unfinished)[2].id == second.id);
  dirty.cleanup_pending = false;
  REQUIRE(await(store->save(dirty, std::nullopt, {})).has_value());
  CHECK(await(store->unfinished_tasks())->size() == 2);
}

TEST_CASE_METHOD(StoreFixture, "store refuses calls after it was closed") {
  const TaskRecord task = insert();
  REQUIRE(await(store->close()).has_value());
  CHECK(code_of(await(store->get_task(task.id))) == ErrorCode::unavailable);
  CHECK(code_of(await(store->save(task, std::nullopt, {}))) == ErrorCode::unavailable);
  CHECK(await(store->close()).has_value());
}

}  // namespace
}  // namespace mayfly

#include "fakes/failing_task_store.hpp"

#include <catch2/catch.hpp>

#include "store_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

TEST_CASE_METHOD(StoreFixture, "failing task store refuses every write and reads on and heals") {
  FailingTaskStore failing(*store);
  const TaskRecord task = loop.await(failing.insert_task(make_task(), {}, std::nullopt))->task;
  failing.fail_writes_with(ErrorCode::disk_full);
  CHECK(code_of(loop.await(failing.insert_task(make_task(), {}, std::nullopt))) == ErrorCode::disk_full);
  CHECK(code_of(loop.await(failing.save(task, std::nullopt, {make_event("x")}))) == ErrorCode::disk_full);
  CHECK(code_of(loop.await(failing.save_attempt(make_attempt(task.id)))) == ErrorCode::disk_full);
  CHECK(code_of(loop.await(failing.put_setting("a", "b"))) == ErrorCode::disk_full);
  CHECK(failing.refused() == 4);
  CHECK(loop.await(failing.unfinished_tasks())->size() == 1);
  CHECK(loop.await(failing.attempts_of(task.id))->empty());
  CHECK(*loop.await(failing.get_setting("a")) == std::nullopt);
  failing.heal();
  CHECK(*loop.await(failing.save(task, std::nullopt, {})) == task.revision + 1);
}

}  // namespace
}  // namespace mayfly

// Events, usage, artifacts, settings and idempotency keys in the task store.
#include <catch2/catch.hpp>

#include "store_fixture.hpp"

namespace mayfly {
namespace {

using namespace test;

TEST_CASE_METHOD(StoreFixture, "store numbers the events of each task from one without gaps") {
  const TaskRecord other = insert();
  auto outcome =
      await(store->insert_task(make_task(), {make_event("task.queued", {{"n", 1}})}, std::nullopt));
  TaskRecord task = outcome->task;
  clock.advance(Millis(5));
  for (int i = 0; i < 3; ++i) {
    task.revision = *await(store->save(task, std::nullopt, {make_event("a"), make_event("b")}));
    TaskRecord stale = task;
    stale.revision = 99;
    CHECK_FALSE(await(store->save(stale, std::nullopt, {make_event("never")})).has_value());
  }
  REQUIRE(await(store->save(other, std::nullopt, {make_event("c")})).has_value());
  const auto events = await(store->events_after(task.id, 0, 100));
  REQUIRE(events->size() == 7);
  for (std::size_t i = 0; i < events->size(); ++i) CHECK((*events)[i].seq == i + 1);
  CHECK(events->front().type == "task.queued");
  CHECK(events->front().data == Json{{"n", 1}});
  CHECK(events->back().at == clock.wall());
  CHECK(events->back().at - events->front().at == Millis(5));
  const auto later = await(store->events_after(task.id, 4, 2));
  REQUIRE(later->size() == 2);
  CHECK(later->front().seq == 5);
  CHECK(await(store->events_after(other.id, 0, 100))->front().seq == 1);
}

TEST_CASE_METHOD(StoreFixture, "store keeps the newest usage samples in time order") {
  const TaskRecord task = insert();
  std::vector<UsageSample> samples;
  for (int i = 0; i < 5; ++i) {
    const Usage usage{
        .cpu_ms = static_cast<std::uint64_t>(i), .memory_bytes = 0xFFFF'FFFF'FFFF'FFFF, .pids = 3};
    samples.push_back({.at = WallTime(Millis(1000 * i)), .usage = usage});
  }
  REQUIRE(await(store->add_usage_samples(task.id, samples)).has_value());
  REQUIRE(await(store->add_usage_samples(task.id, {samples.back()})).has_value());
  const auto found = await(store->usage_of(task.id, 3));
  REQUIRE(found->size() == 3);
  CHECK(found->front().at == WallTime(Millis(2000)));
  CHECK(found->back().usage == samples.back().usage);
}

TEST_CASE_METHOD(StoreFixture, "P06 F46 store keeps artifact names of any bytes and replaces the list") {
  const TaskRecord task = insert();
  std::vector<Artifact> artifacts;
  for (const std::string& name : {std::string("a\nb"), std::string("\"q\" %2f"), std::string("\xff\xfe"),
                                  std::string(1024, 'x'), std::string("<script>.html")}) {
    artifacts.push_back({.path = name, .size = 5_GiB, .sha256 = std::string(64, 'a'), .mode = 0755});
  }
  REQUIRE(await(store->save_artifacts(task.id, {{.path = "old", .sha256 = "x"}})).has_value());
  REQUIRE(await(store->save_artifacts(task.id, artifacts)).has_value());
  const auto found = await(store->artifacts_of(task.id));
  REQUIRE(found->size() == artifacts.size());
  for (const Artifact& artifact : artifacts) {
    const auto same = std::find_if(found->begin(), found->end(),
                                   [&](const Artifact& other) { return other.path == artifact.path; });
    REQUIRE(same != found->end());
    CHECK(same->size == 5_GiB);
    CHECK(same->mode == 0755);
  }
}

TEST_CASE_METHOD(StoreFixture, "store keeps the old artifact list when the new one is refused") {
  const TaskRecord task = insert();
  REQUIRE(await(store->save_artifacts(task.id, {{.path = "old", .sha256 = "x"}})).has_value());
  const Artifact twice{.path = "same", .sha256 = "x"};
  CHECK(code_of(await(store->save_artifacts(task.id, {twice, twice}))) == ErrorCode::conflict);
  const auto found = await(store->artifacts_of(task.id));
  REQUIRE(found->size() == 1);
  CHECK(found->front().path == "old");
}

TEST_CASE_METHOD(StoreFixture, "store remembers settings over a restart") {
  CHECK(*await(store->get_setting("installation")) == std::nullopt);
  REQUIRE(await(store->put_setting("installation", "one")).has_value());
  REQUIRE(await(store->put_setting("installation", "two")).has_value());
  reopen();
  CHECK(*await(store->get_setting("installation")) == "two");
}

const IdempotencyKey kKey{.scope = "acme submit", .key = "k1", .fingerprint = "f1"};

TEST_CASE_METHOD(StoreFixture,
                 "store answers a repeated idempotency key with the first task over a restart") {
  const auto first = await(store->insert_task(make_task(), {make_event("task.queued")}, kKey));
  CHECK_FALSE(first->replayed);
  reopen();
  const auto again = await(store->insert_task(make_task(), {make_event("task.queued")}, kKey));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->task.id == first->task.id);
  CHECK(await(store->events_after(first->task.id, 0, 10))->size() == 1);
  CHECK(await(store->unfinished_tasks())->size() == 1);
}

TEST_CASE_METHOD(StoreFixture, "store refuses an idempotency key that comes with another body") {
  REQUIRE(await(store->insert_task(make_task(), {}, kKey)).has_value());
  IdempotencyKey other = kKey;
  other.fingerprint = "f2";
  CHECK(code_of(await(store->insert_task(make_task(), {}, other))) == ErrorCode::idempotency_mismatch);
  other.scope = "other submit";
  CHECK(await(store->insert_task(make_task(), {}, other)).has_value());
}

asio::awaitable<void> insert_with_key(TaskStore& store, std::vector<Result<InsertOutcome>>& outcomes) {
  auto outcome = co_await store.insert_task(make_task(), {}, kKey);
  outcomes.push_back(std::move(outcome));
}

TEST_CASE_METHOD(StoreFixture, "store makes one task of twenty calls with one key at once") {
  std::vector<Result<InsertOutcome>> outcomes;
  for (int i = 0; i < 20; ++i) {
    asio::co_spawn(loop.context(), insert_with_key(*store, outcomes), [](std::exception_ptr) {});
  }
  loop.context().run();
  REQUIRE(outcomes.size() == 20);
  int made = 0;
  for (const auto& outcome : outcomes) {
    REQUIRE(outcome.has_value());
    made += outcome->replayed ? 0 : 1;
    CHECK(outcome->task.id == outcomes.front()->task.id);
  }
  CHECK(made == 1);
  CHECK(await(store->unfinished_tasks())->size() == 1);
}

TEST_CASE_METHOD(StoreFixture, "store forgets idempotency keys by age only") {
  REQUIRE(await(store->insert_task(make_task(), {}, kKey)).has_value());
  clock.advance(Millis(1000));
  REQUIRE(await(store->forget_keys_before(clock.wall() - Millis(1000))).has_value());
  CHECK(await(store->insert_task(make_task(), {}, kKey))->replayed);
  REQUIRE(await(store->forget_keys_before(clock.wall())).has_value());
  CHECK_FALSE(await(store->insert_task(make_task(), {}, kKey))->replayed);
}

TEST_CASE_METHOD(StoreFixture, "store never runs a request again because retention removed its task") {
  const auto first = await(store->insert_task(make_task(), {}, kKey));
  end(first->task, clock.wall());
  clock.advance(Millis(1));
  REQUIRE(remove_finished_before(clock.wall(), 10)->size() == 1);
  CHECK(code_of(await(store->insert_task(make_task(), {}, kKey))) == ErrorCode::gone);
}

}  // namespace
}  // namespace mayfly

// Our own disk: how much is left, and what is old enough to go.
#include "async/with_deadline.hpp"
#include "lifecycle/control_plane.hpp"
#include "workspace/disk_space.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kRemoveAtOnce = 100;

}  // namespace

asio::awaitable<void> ControlPlane::disk_loop() {
  for (;;) {
    auto probe = [dir = config_.data_dir] { return disk_space(dir); };
    auto space = co_await services_.pool.run(std::move(probe));
    if (space) {
      disk_low_ = space->free < policy_->disk_reserve;
      disk_detail_ = format_bytes(space->free) + " bytes free, " + format_bytes(policy_->disk_reserve) +
                     " are kept in reserve";
    } else {
      disk_low_ = true;
      disk_detail_ = space.error().message;
    }
    co_await sleep_until(Deadline::in(config_.disk_probe));
  }
}

asio::awaitable<void> ControlPlane::remove_expired() {
  const Retention& retention = policy_->retention;
  WallTime before = services_.clock.wall() - retention.task_age;
  auto total = co_await services_.logs.total_size();
  if (total) services_.metrics.set("mayfly_log_store_bytes", static_cast<double>(total->count));
  const bool too_many_bytes = total && *total > retention.log_bytes;
  if (too_many_bytes)
    before = services_.clock.wall();  // the oldest finished ones go first, a batch at a time
  for (;;) {
    auto old = co_await services_.store.finished_before(before, kRemoveAtOnce);
    if (!old) {
      services_.log.warn("retention", "old tasks could not be listed", {{"error", old.error().message}});
      co_return;
    }
    const std::size_t removed = co_await remove_tasks(std::move(*old));
    if (too_many_bytes || removed < kRemoveAtOnce) co_return;
  }
}

// Files first: a crash in between leaves rows, which are met again, and never files that nobody knows of.
asio::awaitable<std::size_t> ControlPlane::remove_tasks(std::vector<TaskId> ids) {
  std::vector<TaskId> gone;
  for (const TaskId& id : ids) {
    auto removed = co_await services_.logs.remove(id);
    if (removed) removed = co_await services_.artifacts.remove(id);
    if (removed) {
      gone.push_back(id);
    } else {
      services_.log.warn("retention", "the files of an old task could not be removed",
                         {{"task_id", id.str()}, {"error", removed.error().message}});
    }
  }
  const std::size_t count = gone.size();
  auto done = co_await services_.store.remove_tasks(std::move(gone));
  if (done) co_return count;
  services_.log.warn("retention", "old tasks could not be removed", {{"error", done.error().message}});
  co_return std::size_t{0};
}

asio::awaitable<void> ControlPlane::housekeeping_loop() {
  for (;;) {
    co_await remove_expired();
    (void)co_await services_.store.forget_keys_before(services_.clock.wall() -
                                                      policy_->retention.idempotency_age);
    co_await sleep_until(Deadline::in(config_.housekeeping_every));
  }
}

}  // namespace mayfly

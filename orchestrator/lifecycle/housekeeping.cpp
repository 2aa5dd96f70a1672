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
    auto removed = co_await services_.store.remove_finished_before(before, kRemoveAtOnce);
    if (!removed || removed->empty()) co_return;
    for (const TaskId& id : *removed) {
      (void)co_await services_.logs.remove(id);
      (void)co_await services_.artifacts.remove(id);
    }
    if (too_many_bytes || removed->size() < kRemoveAtOnce) co_return;
  }
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

#include "lifecycle/control_plane.hpp"

namespace mayfly {

ControlPlane::ControlPlane(Services services, std::shared_ptr<const Policy> policy, ControlPlaneConfig config)
    : services_(services),
      policy_(std::move(policy)),
      config_(std::move(config)),
      background_(services.io, services.log),
      tasks_(services.io, services.log),
      schedule_due_(services.io) {}

ControlPlane::~ControlPlane() = default;

Async<> ControlPlane::start() {
  auto recovered = co_await recover();
  if (!recovered) co_return recovered;
  background_.spawn("engine watch", engine_loop());
  background_.spawn("schedule", schedule_loop());
  background_.spawn("disk watch", disk_loop());
  background_.spawn("reap orphans", reap_loop());
  background_.spawn("housekeeping", housekeeping_loop());
  co_return Result<>{};
}

void ControlPlane::drain() {
  draining_ = true;
}

asio::awaitable<void> ControlPlane::idle() {
  while (scheduler_.running() > 0) co_await schedule_due_.wait(Deadline::in(std::chrono::seconds(1)));
}

asio::awaitable<void> ControlPlane::stop() {
  drain();
  background_.cancel();
  co_await background_.drain();
  tasks_.cancel();
  co_await tasks_.drain();
}

}  // namespace mayfly

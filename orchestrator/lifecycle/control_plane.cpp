#include "lifecycle/control_plane.hpp"

#include <exception>

#include "async/with_deadline.hpp"

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
  background_.spawn("engine watch", keep_going("engine watch", &ControlPlane::engine_loop));
  background_.spawn("schedule", keep_going("schedule", &ControlPlane::schedule_loop));
  background_.spawn("disk watch", keep_going("disk watch", &ControlPlane::disk_loop));
  background_.spawn("reap orphans", keep_going("reap orphans", &ControlPlane::reap_loop));
  background_.spawn("housekeeping", keep_going("housekeeping", &ControlPlane::housekeeping_loop));
  co_return Result<>{};
}

asio::awaitable<void> ControlPlane::keep_going(std::string name, Loop loop) {
  constexpr Millis kPause{1'000};
  for (;;) {
    std::exception_ptr thrown;
    try {
      co_await (this->*loop)();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (auto failure = what_escaped(thrown)) {
      services_.log.error("lifecycle", "a background loop failed and begins anew",
                          {{"name", name}, {"what", *failure}});
    }
    co_await sleep_until(Deadline::in(kPause));  // throws when it was cancelled
  }
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

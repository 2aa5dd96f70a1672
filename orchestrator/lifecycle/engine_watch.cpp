// Keeps the connection to the engine: connects, probes, and says when it is gone.
#include "async/with_deadline.hpp"
#include "lifecycle/control_plane.hpp"

namespace mayfly {
namespace {

constexpr Millis kConnect = std::chrono::seconds(60);
constexpr Millis kPing = std::chrono::seconds(5);
constexpr std::uint64_t kSandboxesPerCpu = 32;

}  // namespace

void ControlPlane::take_capabilities(Capabilities found) {
  const Capacity& wanted = policy_->capacity;
  NodeCapacity capacity;
  capacity.millicpus = wanted.millicpus > 0 ? wanted.millicpus : 4 * found.node_millicpus;
  capacity.memory = wanted.memory.count > 0 ? wanted.memory : Bytes{found.node_memory.count / 10 * 9};
  const auto cpus = static_cast<std::uint64_t>(std::max<std::int64_t>(1, found.node_millicpus / 1000));
  capacity.sandboxes = wanted.sandboxes > 0 ? wanted.sandboxes : kSandboxesPerCpu * cpus;
  scheduler_.set_capacity(capacity);
  for (const std::string& note : found.notes) services_.log.info("engine", note);
  capabilities_ = std::move(found);
}

asio::awaitable<void> ControlPlane::engine_loop() {
  bool connected = false;
  for (;;) {
    Result<> alive;
    if (connected) {
      alive = co_await services_.runtime.ping(Deadline::in(kPing));
    } else {
      auto found = co_await services_.runtime.connect(Deadline::in(kConnect));
      if (found) take_capabilities(std::move(*found));
      if (!found) alive = fail_with(std::move(found));
    }
    if (alive.has_value() != engine_up_ || (!alive && alive.error().message != engine_trouble_)) {
      if (alive) services_.log.info("engine", "the engine answers");
      if (!alive)
        services_.log.warn("engine", "the engine is not usable", {{"error", alive.error().message}});
    }
    engine_tried_ = true;
    engine_up_ = connected = alive.has_value();
    engine_trouble_ = alive ? std::string() : alive.error().message;
    services_.metrics.set("mayfly_engine_up", engine_up_ ? 1 : 0);
    schedule_due_.notify();
    co_await sleep_until(Deadline::in(config_.engine_probe));
  }
}

}  // namespace mayfly

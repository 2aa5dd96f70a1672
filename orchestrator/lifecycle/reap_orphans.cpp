// What carries our signed label and belongs to no task that we know: made by a create whose answer was lost,
// perhaps. Another installation's sandboxes, and copies of our labels, are left alone.
#include <unordered_set>

#include "async/with_deadline.hpp"
#include "lifecycle/control_plane.hpp"

namespace mayfly {
namespace {

constexpr Millis kList = std::chrono::seconds(30);

}  // namespace

asio::awaitable<void> ControlPlane::reap_once() {
  if (!engine_up_) co_return;
  auto listed = co_await services_.runtime.list(Deadline::in(kList));
  if (!listed) co_return;
  // Taken after the list was answered: a sandbox that was made meanwhile is in it, or not listed.
  std::unordered_set<SandboxId> known;
  for (const auto& [id, task] : live_) known.insert(task->attempt().sandbox);
  std::size_t leaked = 0;
  for (const SandboxListing& found : *listed) {
    if (!found.ours || known.contains(found.id)) continue;
    ++leaked;
    auto gone = co_await services_.runtime.destroy(found.id, Deadline::in(kList));
    services_.log.warn("reaper", "an orphan was removed",
                       {{"sandbox", found.id.str()}, {"result", gone ? "removed" : gone.error().message}});
    if (!gone) continue;
    --leaked;
    if (found.has_container)
      services_.metrics.add("mayfly_leaked_resources_removed_total", {{"kind", "container"}});
    if (found.has_volume)
      services_.metrics.add("mayfly_leaked_resources_removed_total", {{"kind", "volume"}});
  }
  services_.metrics.set("mayfly_leaked_resources", static_cast<double>(leaked), {{"kind", "sandbox"}});
}

asio::awaitable<void> ControlPlane::reap_loop() {
  for (;;) {
    co_await reap_once();
    co_await sleep_until(Deadline::in(engine_up_ ? config_.reap_every : Millis(1'000)));
  }
}

}  // namespace mayfly

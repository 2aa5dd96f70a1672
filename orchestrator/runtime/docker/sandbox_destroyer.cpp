#include "runtime/docker/sandbox_destroyer.hpp"

#include "runtime/docker/backoff.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "runtime/docker/sandbox_listing.hpp"

namespace mayfly::docker {
namespace {

// A container whose attach is alive and unread hangs every removal until that attach is closed. Its owner
// closes it when destroy begins; the removal that was sent before may still hang, so it is given up and sent
// again.
constexpr Millis kAskAgain{std::chrono::seconds(2)};
// Measured: a dropped create is complete within a second also on a busy engine.
constexpr Millis kDoubt{std::chrono::seconds(2)};

bool may_ask_again(ErrorCode code) {
  return code == ErrorCode::conflict || code == ErrorCode::deadline_exceeded;
}

}  // namespace

SandboxDestroyer::SandboxDestroyer(EngineClient& engine, Logger& log, const Installation& installation)
    : engine_(engine), log_(log), installation_(installation) {}

Async<> SandboxDestroyer::destroy(SandboxId id, Deadline deadline) {
  if (auto removed = co_await remove_container(id, deadline); !removed)
    co_return fail_with(std::move(removed));
  co_return co_await remove_volume(workspace_volume_name(id), deadline);
}

Async<> SandboxDestroyer::destroy_in_doubt(SandboxId id, Deadline deadline) {
  const Deadline doubt = deadline.within(kDoubt);
  for (Backoff backoff;;) {
    const auto found = co_await find_container(id, deadline);
    if (!found) co_return fail_with(found);
    if (*found == Found::ours) break;
    const bool in_time = co_await backoff.pause(doubt);
    if (!in_time) break;
  }
  co_return co_await destroy(id, deadline);
}

// By list, which answers also when the container itself is wedged.
Async<SandboxDestroyer::Found> SandboxDestroyer::find_container(SandboxId id, Deadline deadline) {
  const std::string name = container_name(id);
  const auto listed = co_await engine_.list_containers(std::string(kLabelSandbox) + "=" + id.str(), deadline);
  if (!listed) co_return fail_with(listed);
  for (const ContainerSummary& container : *listed) {
    if (!is_or_was_named(container, name)) continue;
    if (labels_verify(installation_, ObjectKind::sandbox_container, name, container.labels))
      co_return Found::ours;
    log_.warn("runtime", "a container has a sandbox's name without our signature: left alone",
              {{"name", name}});
  }
  co_return Found::nothing;
}

// Gone is what `list` no longer shows. Seen while a create was still in progress: list shows the container,
// and its removal by name answers 404.
Async<> SandboxDestroyer::remove_container(SandboxId id, Deadline deadline) {
  const std::string name = container_name(id);
  for (Backoff backoff;;) {
    const auto found = co_await find_container(id, deadline);
    if (!found) co_return fail_with(found);
    if (*found == Found::nothing) co_return Result<>{};
    const auto removed = co_await engine_.remove_container(name, deadline.within(kAskAgain));
    if (removed && *removed == RemoveOutcome::removed) co_return Result<>{};
    if (!removed && !may_ask_again(removed.error().code)) co_return fail_with(removed);
    const bool in_time = co_await backoff.pause(deadline);
    if (in_time) continue;
    if (!removed) co_return fail_with(removed);
    co_return fail(ErrorCode::deadline_exceeded,
                   "removing " + name + ": the engine lists it and finds no such name");
  }
}

Async<SandboxDestroyer::Found> SandboxDestroyer::find_volume(std::string name, Deadline deadline) {
  const auto volume = co_await engine_.inspect_volume(name, deadline);
  if (!volume && volume.error().code == ErrorCode::not_found) co_return Found::nothing;
  if (!volume) co_return fail_with(volume);
  if (labels_verify(installation_, ObjectKind::workspace_volume, name, volume->labels)) co_return Found::ours;
  log_.warn("runtime", "a volume has a workspace's name without our signature: left alone", {{"name", name}});
  co_return Found::nothing;
}

// In use (conflict) means that its container is still on the way out.
Async<> SandboxDestroyer::remove_volume(std::string name, Deadline deadline) {
  for (Backoff backoff;;) {
    const auto found = co_await find_volume(name, deadline);
    if (!found) co_return fail_with(found);
    if (*found == Found::nothing) co_return Result<>{};
    auto removed = co_await engine_.remove_volume(name, deadline);
    if (removed) co_return Result<>{};
    if (removed.error().code != ErrorCode::conflict) co_return fail_with(std::move(removed));
    const bool in_time = co_await backoff.pause(deadline);
    if (!in_time) co_return fail_with(std::move(removed));
  }
}

}  // namespace mayfly::docker

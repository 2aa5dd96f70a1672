#include "runtime/docker/sandbox_creator.hpp"

#include <algorithm>

#include "runtime/docker/backoff.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "runtime/docker/profile_check.hpp"

namespace mayfly::docker {
namespace {

constexpr Millis kCleanUp{std::chrono::seconds(3)};

// The answer did not come, so the engine may still be doing what was asked.
bool is_in_doubt(ErrorCode code) {
  return code == ErrorCode::deadline_exceeded || code == ErrorCode::engine_unreachable ||
         code == ErrorCode::protocol;
}

}  // namespace

struct SandboxCreator::Plan {
  SandboxId id;
  std::string name, image_reference;
  VolumeConfig volume;
  ContainerConfig container;
  EngineFacts engine;
};

SandboxCreator::SandboxCreator(EngineClient& engine, const Clock& clock, Logger& log,
                               const Installation& installation, SandboxDestroyer& destroyer,
                               std::vector<std::string> accept_warnings)
    : engine_(engine),
      clock_(clock),
      log_(log),
      installation_(installation),
      destroyer_(destroyer),
      accept_warnings_(std::move(accept_warnings)) {}

SandboxCreator::Plan SandboxCreator::make_plan(const SandboxSpec& spec, const EngineFacts& engine,
                                               const RunnerVolume& runner) const {
  const std::string name = container_name(spec.id);
  const WallTime expires = clock_.wall() + spec.lifetime;
  LabelContent content{ObjectKind::sandbox_container, name, spec.id.str(), runner.sha256, expires};
  Labels container_labels = make_labels(installation_, content);
  content.kind = ObjectKind::workspace_volume;
  content.object_name = workspace_volume_name(spec.id);
  Labels volume_labels = make_labels(installation_, content);
  return Plan{spec.id,
              name,
              spec.image.reference,
              make_workspace_volume(spec, std::move(volume_labels)),
              make_sandbox_container(spec, engine, runner.name, std::move(container_labels)),
              engine};
}

Async<std::string> SandboxCreator::create(SandboxSpec spec, EngineFacts engine, RunnerVolume runner,
                                          Deadline deadline) {
  if (auto fine = check_sandbox_spec(spec); !fine) co_return fail_with(std::move(fine));
  const Plan plan = make_plan(spec, engine, runner);
  if (auto volume = co_await create_volume(plan, deadline); !volume) co_return fail_with(std::move(volume));
  co_return co_await create_container(plan, deadline);
}

// An existing volume of that name comes back with its old options, which may be a mount of the host.
Async<> SandboxCreator::create_volume(const Plan& plan, Deadline deadline) {
  const auto volume = co_await engine_.create_volume(plan.volume, deadline);
  if (!volume) {
    co_await undo(plan, volume.error().code);
    co_return fail_with(volume);
  }
  const auto differences = compare_volume(plan.volume, *volume, CompareLabels::ignored);
  if (!differences.empty()) {
    co_return fail(ErrorCode::forbidden, "volume " + plan.volume.name +
                                             " exists and is not what was asked (" + describe(differences) +
                                             "): it was left alone");
  }
  if (!labels_verify(installation_, ObjectKind::workspace_volume, plan.volume.name, volume->labels)) {
    co_return fail(
        ErrorCode::forbidden,
        "volume " + plan.volume.name + " exists and is not signed by this installation: it was left alone");
  }
  co_return Result<>{};
}

Async<std::string> SandboxCreator::create_container(const Plan& plan, Deadline deadline) {
  const auto created = co_await engine_.create_container(plan.name, plan.container, deadline);
  if (!created && created.error().code == ErrorCode::conflict) co_return co_await adopt(plan, deadline);
  if (!created) {
    co_await undo(plan, created.error().code);
    if (created.error().code != ErrorCode::not_found) co_return fail_with(created);
    co_return fail(ErrorCode::not_found, "creating " + plan.name + ": image \"" + plan.image_reference +
                                             "\" (" + plan.container.image +
                                             ") is no longer on the engine: " + created.error().message);
  }
  if (auto checked = co_await check_created(plan, *created, deadline); !checked) {
    co_await undo(plan, ErrorCode::forbidden);
    co_return fail_with(std::move(checked));
  }
  co_return created->id;
}

Async<> SandboxCreator::check_created(const Plan& plan, Created created, Deadline deadline) {
  const auto inspect = co_await engine_.inspect_container(plan.name, deadline);
  if (!inspect) co_return fail_with(inspect);
  const auto differences =
      compare_container(plan.name, plan.container, inspect->raw, plan.engine, CompareLabels::compared);
  if (!differences.empty()) {
    co_return fail(ErrorCode::forbidden,
                   "the engine made " + plan.name +
                       " other than it was asked, so it was removed: " + describe(differences));
  }
  for (const std::string& warning : created.warnings) {
    const bool accepted = std::any_of(
        accept_warnings_.begin(), accept_warnings_.end(),
        [&](const std::string& text) { return !text.empty() && warning.find(text) != std::string::npos; });
    if (!accepted) {
      co_return fail(ErrorCode::forbidden, "the engine made " + plan.name + " with the warning \"" + warning +
                                               "\", so it was removed; accept_warnings can name it");
    }
    log_.info("runtime", "an accepted warning of the engine", {{"name", plan.name}, {"warning", warning}});
  }
  co_return Result<>{};
}

// Right after a conflict inspect by that name is mostly 404: the other create is still in progress.
Async<ContainerInspect> SandboxCreator::await_visible(const Plan& plan, Deadline deadline) {
  for (Backoff backoff;;) {
    auto inspect = co_await engine_.inspect_container(plan.name, deadline);
    if (inspect || inspect.error().code != ErrorCode::not_found) co_return inspect;
    const bool in_time = co_await backoff.pause(deadline);
    if (!in_time) {
      co_return fail(ErrorCode::deadline_exceeded,
                     "the name " + plan.name + " is taken, but no container of that name appeared");
    }
  }
}

// The name is the lock: it is ours from an earlier create of the same sandbox, or it is nobody's that we
// know.
Async<std::string> SandboxCreator::adopt(const Plan& plan, Deadline deadline) {
  const auto found = co_await await_visible(plan, deadline);
  if (!found) co_return fail_with(found);
  if (!labels_verify(installation_, ObjectKind::sandbox_container, plan.name, found->labels)) {
    co_return fail(
        ErrorCode::conflict,
        "the name " + plan.name + " belongs to a container without our signature: it was left alone");
  }
  const auto differences =
      compare_container(plan.name, plan.container, found->raw, plan.engine, CompareLabels::ignored);
  if (!differences.empty()) {
    co_return fail(ErrorCode::conflict, "a container " + plan.name +
                                            " of ours exists with another configuration (" +
                                            describe(differences) + "): destroy it first");
  }
  log_.info("runtime", "adopted a container of an earlier create", {{"name", plan.name}, {"id", found->id}});
  co_return found->id;
}

// With a deadline of its own: the caller's has often passed by now. What stays is found by `list`.
asio::awaitable<void> SandboxCreator::undo(const Plan& plan, ErrorCode cause) {
  const Deadline deadline = Deadline::in(kCleanUp);
  Result<> undone;
  if (is_in_doubt(cause)) {
    undone = co_await destroyer_.destroy_in_doubt(plan.id, deadline);
  } else {
    undone = co_await destroyer_.destroy(plan.id, deadline);
  }
  if (!undone) {
    log_.warn("runtime", "a failed create may have left something",
              {{"name", plan.name}, {"error", undone.error().message}});
  }
}

}  // namespace mayfly::docker

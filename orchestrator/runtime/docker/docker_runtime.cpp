#include "runtime/docker/docker_runtime.hpp"

#include <algorithm>

#include "runtime/docker/attach_carrier.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "runtime/docker/image_facts.hpp"
#include "runtime/docker/sandbox_listing.hpp"
#include "runtime/docker/storage_probe.hpp"

namespace mayfly {
namespace {

using docker::container_name;

tl::unexpected<Error> not_connected() {
  return fail(ErrorCode::unavailable, "the container engine has not been reached yet");
}

SandboxStatus make_status(const docker::ContainerState& state) {
  SandboxStatus status;
  status.state = docker::parse_sandbox_state(state.status);
  status.exit_code = state.exit_code;
  status.oom_killed = state.oom_killed;
  status.detail = state.error;
  return status;
}

Capabilities make_capabilities(const docker::EngineFacts& engine, std::string storage_note) {
  Capabilities capabilities;
  capabilities.backend = "docker";
  capabilities.engine_version = engine.version;
  capabilities.adoptable = true;
  capabilities.late_limits = true;
  capabilities.workspace = WorkspaceStorage::tmpfs;
  capabilities.workspace_max = engine.memory;
  capabilities.node_millicpus = engine.processors * 1000;
  capabilities.node_memory = engine.memory;
  capabilities.notes = docker::list_advisories(engine.version);
  capabilities.notes.push_back(std::move(storage_note));
  return capabilities;
}

}  // namespace

DockerRuntime::DockerRuntime(docker::EngineClient& engine, BlockingPool& pool, const Clock& clock,
                             Logger& log, DockerRuntimeOptions options)
    : engine_(engine),
      log_(log),
      installation_(std::move(options.installation)),
      runner_volume_(engine, pool, clock, log, installation_, std::move(options.runner_path)),
      destroyer_(engine, log, installation_),
      creator_(engine, clock, log, installation_, destroyer_, std::move(options.accept_warnings)) {}

Async<Capabilities> DockerRuntime::connect(Deadline deadline) {
  const auto version = co_await engine_.negotiate(deadline);
  if (!version) co_return fail_with(version);
  const auto info = co_await engine_.info(deadline);
  if (!info) co_return fail_with(info);
  auto facts = docker::assess_engine(*version, *info);
  if (!facts) co_return fail_with(std::move(facts));
  auto runner = co_await runner_volume_.ensure(deadline);
  if (!runner) co_return fail_with(std::move(runner));
  std::string storage_note = co_await docker::probe_disk_workspaces(engine_, *info, deadline);
  connected_ = Connected{*std::move(facts), *std::move(runner)};
  co_return make_capabilities(connected_->engine, std::move(storage_note));
}

Async<> DockerRuntime::ping(Deadline deadline) {
  return engine_.ping(deadline);
}

Async<Image> DockerRuntime::prepare(const std::string& reference, Deadline deadline) {
  if (!connected_) co_return not_connected();
  if (auto checked = docker::check_image_name(reference); !checked) co_return fail_with(std::move(checked));
  const auto found = co_await engine_.inspect_image(reference, deadline);
  if (!found && found.error().code == ErrorCode::not_found) {
    co_return fail(ErrorCode::not_found,
                   "image \"" + reference + "\" is not on the engine: pull, build or import it first");
  }
  if (!found) co_return fail_with(found);
  co_return docker::make_image(reference, *found, connected_->engine);
}

Async<std::string> DockerRuntime::create(const SandboxSpec& spec, Deadline deadline) {
  if (!connected_) co_return not_connected();
  auto runner = co_await runner_in_place(deadline);
  if (!runner) co_return fail_with(std::move(runner));
  co_return co_await creator_.create(spec, connected_->engine, *std::move(runner), deadline);
}

Async<docker::RunnerVolume> DockerRuntime::runner_in_place(Deadline deadline) {
  const auto in_place = co_await runner_volume_.is_in_place(connected_->runner, deadline);
  if (!in_place) co_return fail_with(in_place);
  if (*in_place) co_return connected_->runner;
  log_.warn("runtime", "the runner's volume is gone: making it again", {{"volume", connected_->runner.name}});
  auto made = co_await runner_volume_.ensure(deadline);
  if (made) connected_->runner = *made;
  co_return made;
}

Async<std::unique_ptr<Carrier>> DockerRuntime::channel(const SandboxId& id, Deadline deadline) {
  auto stream = co_await engine_.attach(container_name(id), deadline);
  if (!stream) co_return fail_with(std::move(stream));
  std::unique_ptr<Carrier> carrier = std::make_unique<docker::AttachCarrier>(*std::move(stream), log_, id);
  co_return carrier;
}

Async<> DockerRuntime::start(const SandboxId& id, Deadline deadline) {
  return engine_.start_container(container_name(id), deadline);
}

Async<SandboxStatus> DockerRuntime::inspect(const SandboxId& id, Deadline deadline) {
  const auto found = co_await engine_.inspect_container(container_name(id), deadline);
  if (!found) co_return fail_with(found);
  co_return make_status(found->state);
}

// The answer of wait has the code alone; the rest of the truth is in inspect.
Async<SandboxStatus> DockerRuntime::wait(const SandboxId& id, Deadline deadline) {
  const std::string name = container_name(id);
  const auto code = co_await engine_.wait_container(name, deadline);
  if (!code) co_return fail_with(code);
  const auto found = co_await engine_.inspect_container(name, deadline);
  if (!found && found.error().code != ErrorCode::not_found) co_return fail_with(found);
  SandboxStatus status = found ? make_status(found->state) : SandboxStatus{};
  status.state = SandboxState::exited;
  status.exit_code = *code;
  co_return status;
}

Async<> DockerRuntime::raise_cpu(const SandboxId& id, std::int64_t millicpus, Deadline deadline) {
  const std::string name = container_name(id);
  if (!connected_) co_return not_connected();
  docker::UpdateConfig update;
  update.nano_cpus = std::clamp<std::int64_t>(millicpus, 1, connected_->engine.processors * 1000) * 1'000'000;
  const auto warnings = co_await engine_.update_container(name, update, deadline);
  if (!warnings) co_return fail_with(warnings);
  if (warnings->empty()) co_return Result<>{};
  co_return fail(ErrorCode::engine_refused, "updating " + name + ": the engine warned: " + warnings->front());
}

Async<> DockerRuntime::signal(const SandboxId& id, Signal signal, Deadline deadline) {
  const std::string name = container_name(id);
  auto sent = co_await engine_.kill_container(name, signal == Signal::kill ? "SIGKILL" : "SIGTERM", deadline);
  if (!sent && sent.error().code == ErrorCode::not_found) co_return Result<>{};
  co_return sent;
}

Async<> DockerRuntime::destroy(const SandboxId& id, Deadline deadline) {
  return destroyer_.destroy(id, deadline);
}

Async<std::vector<SandboxListing>> DockerRuntime::list(Deadline deadline) {
  const std::string label(docker::kLabelSandbox);
  const auto containers = co_await engine_.list_containers(label, deadline);
  if (!containers) co_return fail_with(containers);
  const auto volumes = co_await engine_.list_volumes(label, deadline);
  if (!volumes) co_return fail_with(volumes);
  co_return docker::make_listing(installation_, *containers, *volumes);
}

}  // namespace mayfly

// The Docker backend of Runtime: sandboxes are hardened containers of a local or remote Docker Engine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "docker_api/engine_client.hpp"
#include "runtime/docker/engine_facts.hpp"
#include "runtime/docker/label_signature.hpp"
#include "runtime/docker/runner_volume.hpp"
#include "runtime/docker/sandbox_creator.hpp"
#include "runtime/docker/sandbox_destroyer.hpp"
#include "runtime/runtime.hpp"

namespace mayfly {

struct DockerRuntimeOptions {
  docker::Installation installation;
  std::string runner_path;                   // of the static mayfly-runner
  std::vector<std::string> accept_warnings;  // warnings of the engine that are no failure
};

// Names are `mayfly-<sandbox id>` and `mayfly-<sandbox id>-ws`. Beside the sandboxes it keeps one read-only
// volume
// (`mayfly-runner-…`) and one empty image (`mayfly/helper`) on the engine.
//
// connect answers forbidden when the engine cannot hold the profile; create answers forbidden when the engine
// made something other than what was asked (a task's reason is then runtime_untrusted), and nothing else
// does.
class DockerRuntime final : public Runtime {
 public:
  DockerRuntime(docker::EngineClient& engine, BlockingPool& pool, const Clock& clock, Logger& log,
                DockerRuntimeOptions options);
  DockerRuntime(const DockerRuntime&) = delete;
  DockerRuntime& operator=(const DockerRuntime&) = delete;

  Async<Capabilities> connect(Deadline deadline) override;
  Async<> ping(Deadline deadline) override;
  Async<Image> prepare(const std::string& reference, Deadline deadline) override;
  Async<std::string> create(const SandboxSpec& spec, Deadline deadline) override;
  Async<std::unique_ptr<Carrier>> channel(const SandboxId& id, Deadline deadline) override;
  Async<> start(const SandboxId& id, Deadline deadline) override;
  Async<SandboxStatus> inspect(const SandboxId& id, Deadline deadline) override;
  Async<SandboxStatus> wait(const SandboxId& id, Deadline deadline) override;
  Async<> raise_cpu(const SandboxId& id, std::int64_t millicpus, Deadline deadline) override;
  Async<> signal(const SandboxId& id, Signal signal, Deadline deadline) override;
  Async<> destroy(const SandboxId& id, Deadline deadline) override;
  Async<std::vector<SandboxListing>> list(Deadline deadline) override;

 private:
  struct Connected {
    docker::EngineFacts engine;
    docker::RunnerVolume runner;
  };

  Async<docker::RunnerVolume> runner_in_place(Deadline deadline);

  docker::EngineClient& engine_;
  Logger& log_;
  const docker::Installation installation_;
  docker::RunnerVolumeKeeper runner_volume_;
  docker::SandboxDestroyer destroyer_;
  docker::SandboxCreator creator_;
  std::optional<Connected> connected_;  // since the first connect that succeeded
};

}  // namespace mayfly

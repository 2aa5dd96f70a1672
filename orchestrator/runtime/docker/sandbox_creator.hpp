// Makes a sandbox's volume and container, believes nothing of the answer, and leaves nothing behind when it
// fails. I/O thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "docker_api/engine_client.hpp"
#include "runtime/docker/engine_facts.hpp"
#include "runtime/docker/runner_volume.hpp"
#include "runtime/docker/sandbox_destroyer.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::docker {

class SandboxCreator {
 public:
  // `accept_warnings`: a warning of the engine that contains one of these texts is logged, any other is a
  // failure.
  SandboxCreator(EngineClient& engine, const Clock& clock, Logger& log, const Installation& installation,
                 SandboxDestroyer& destroyer, std::vector<std::string> accept_warnings);

  // The engine's id of the container. forbidden: the engine made something other than what was asked, or
  // warned; the container and volume are gone. conflict: the name belongs to something that is not this
  // sandbox. not_found: the image is no longer there. Cleaning up after a failure may take up to three
  // seconds beyond the deadline.
  Async<std::string> create(SandboxSpec spec, EngineFacts engine, RunnerVolume runner, Deadline deadline);

 private:
  struct Plan;
  Plan make_plan(const SandboxSpec& spec, const EngineFacts& engine, const RunnerVolume& runner) const;
  Async<> create_volume(const Plan& plan, Deadline deadline);
  Async<std::string> create_container(const Plan& plan, Deadline deadline);
  Async<> check_created(const Plan& plan, Created created, Deadline deadline);
  Async<std::string> adopt(const Plan& plan, Deadline deadline);
  Async<ContainerInspect> await_visible(const Plan& plan, Deadline deadline);
  asio::awaitable<void> undo(const Plan& plan, ErrorCode cause);

  EngineClient& engine_;
  const Clock& clock_;
  Logger& log_;
  const Installation& installation_;
  SandboxDestroyer& destroyer_;
  std::vector<std::string> accept_warnings_;
};

}  // namespace mayfly::docker

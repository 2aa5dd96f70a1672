// Takes a sandbox's container and workspace volume away, and nothing of anybody else. I/O thread.
#pragma once

#include "base/log.hpp"
#include "docker_api/engine_client.hpp"
#include "runtime/docker/label_signature.hpp"

namespace mayfly::docker {

class SandboxDestroyer {
 public:
  SandboxDestroyer(EngineClient& engine, Logger& log, const Installation& installation);

  // Container, then volume; returns when both are gone, or with the last error at the deadline. What is not
  // there is done; what carries the name without our signature is left alone and counts as done.
  Async<> destroy(SandboxId id, Deadline deadline);
  // After a create whose answer was lost: the engine carries it out all the same, so the container may still
  // be coming. Looks for it for a while before it believes that there is none.
  Async<> destroy_in_doubt(SandboxId id, Deadline deadline);

 private:
  enum class Found { nothing, ours };
  Async<Found> find_container(SandboxId id, Deadline deadline);
  Async<Found> find_volume(std::string name, Deadline deadline);
  Async<> remove_container(SandboxId id, Deadline deadline);
  Async<> remove_volume(std::string name, Deadline deadline);

  EngineClient& engine_;
  Logger& log_;
  const Installation& installation_;
};

}  // namespace mayfly::docker

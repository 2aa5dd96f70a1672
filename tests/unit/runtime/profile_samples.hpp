// A sandbox, an engine and an installation as the tests of this folder use them.
#pragma once

#include <string>

#include "runtime/docker/engine_facts.hpp"
#include "runtime/docker/label_signature.hpp"
#include "runtime/docker/seccomp_profile.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::test {

inline const SandboxId kSampleId{"sbx_01h8xgqz4c8r9s1t2v3w4x5y6z"};
inline const std::string kSampleImageId = "sha256:" + std::string(64, 'a');
inline const std::string kSampleContainer = "mayfly-" + kSampleId.str();
inline const std::string kSampleVolume = kSampleContainer + "-ws";

inline docker::Installation sample_installation() {
  return {InstallationId("ins_01h8xgqz4c8r9s1t2v3w4x5y6z"), "a key of 32 bytes, known to nobody."};
}

inline SandboxSpec sample_spec() {
  SandboxSpec spec;
  spec.id = kSampleId;
  spec.image.reference = "python:3.12";
  spec.image.id = kSampleImageId;
  spec.image.volumes = {"/data"};
  spec.image.env_names = {"LD_PRELOAD", "PATH", "PYTHON_VERSION"};
  spec.granted = {1500, spec.limits.memory + 216_MiB, 132};
  spec.lifetime = std::chrono::hours(1);
  return spec;
}

inline docker::EngineFacts sample_engine() {
  docker::EngineFacts engine;
  engine.version = "20.10.24";
  engine.architecture = "amd64";
  engine.default_runtime = "runc";
  engine.processors = 2;
  engine.memory = 8_GiB;
  engine.seccomp_profile = *docker::make_seccomp_profile("amd64");
  return engine;
}

}  // namespace mayfly::test

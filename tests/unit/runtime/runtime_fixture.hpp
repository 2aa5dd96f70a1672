// A DockerRuntime over the fake engine, with one image on it.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>

#include "fake_engine_client.hpp"
#include "profile_samples.hpp"
#include "runtime/docker/docker_runtime.hpp"
#include "support/io_loop.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

class RuntimeFixture {
 public:
  explicit RuntimeFixture(std::vector<std::string> accept_warnings = {}) {
    std::ofstream(runner_path()) << "#!static runner";
    docker::ImageInspect image;
    image.id = kSampleImageId;
    image.os = "linux";
    image.architecture = "amd64";
    engine.add_image("python:3.12", image);
    DockerRuntimeOptions options{sample_installation(), runner_path(), std::move(accept_warnings)};
    runtime.emplace(engine, pool, clock, log, std::move(options));
  }

  // Connects and forgets what that asked of the engine.
  Capabilities connect() {
    auto capabilities = loop.await(runtime->connect(soon()));
    REQUIRE(capabilities);
    engine.calls.clear();
    return *capabilities;
  }
  Result<std::string> create(const SandboxSpec& spec = sample_spec()) {
    return loop.await(runtime->create(spec, soon()));
  }
  Result<> destroy(const SandboxId& id = kSampleId) { return loop.await(runtime->destroy(id, soon())); }
  std::vector<SandboxListing> list() { return loop.await(runtime->list(soon())).value(); }
  std::string runner_path() const { return dir.path() / "mayfly-runner"; }
  static Deadline soon() { return Deadline::in(std::chrono::seconds(20)); }

  // Nothing of the sandbox is on the engine.
  bool is_clean() const {
    return !engine.containers.contains(kSampleContainer) && !engine.volumes.contains(kSampleVolume);
  }

  TempDir dir;
  IoLoop loop;
  BlockingPool pool{1};
  ManualClock clock;
  NullLogger log;
  FakeEngineClient engine;
  std::optional<DockerRuntime> runtime;
};

}  // namespace mayfly::test

#include "support/docker_node.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/ids.hpp"

namespace mayfly::test {
namespace {

docker::Installation make_installation() {
  return {make_id<InstallationId>(), make_random_hex(32)};
}

DockerRuntimeOptions options_in(const TempDir& dir, const docker::Installation& installation) {
  const std::string path = dir.path() / "mayfly-runner";
  std::filesystem::copy_file(MAYFLY_RUNNER_PATH, path);
  std::ofstream(path, std::ios::app) << make_random_hex(16);
  return {installation, path, {}};
}

}  // namespace

DockerNode::DockerNode()
    : installation(make_installation()),
      runtime(*engine.engine, pool, clock, log, options_in(dir, installation)) {
  auto connected = engine.loop.await(runtime.connect(soon()));
  if (!connected) FAIL("connect: " << connected.error().message);
  capabilities = std::move(*connected);
}

DockerNode::~DockerNode() {
  try {
    remove_all();
  } catch (const std::exception& failure) {
    std::cerr << "left behind by installation " << installation.id.str() << ": " << failure.what() << '\n';
  }
}

SandboxSpec DockerNode::sandbox_spec() {
  SandboxSpec spec;
  engine.busybox_image();
  spec.id = make_id<SandboxId>();
  spec.image = engine.must(runtime.prepare("mayfly-test/busybox:1", soon()));
  spec.limits.memory = 64_MiB;
  spec.limits.workspace = 16_MiB;
  spec.limits.tmp = 8_MiB;
  spec.limits.shm = 4_MiB;
  spec.limits.pids = 32;
  spec.granted = grant(spec.limits);
  spec.lifetime = std::chrono::minutes(10);
  return spec;
}

void DockerNode::remove_all() {
  const auto sandboxes = engine.loop.await(runtime.list(soon())).value();
  for (const SandboxListing& sandbox : sandboxes) {
    if (!sandbox.ours) continue;
    const auto destroyed = engine.loop.await(runtime.destroy(sandbox.id, soon()));
    if (!destroyed) std::cerr << "left behind: " << destroyed.error().message << '\n';
  }
  const std::string ours = std::string(docker::kLabelInstallation) + "=" + installation.id.str();
  const auto containers = engine.loop.await(engine.engine->list_containers(ours, soon())).value();
  for (const auto& container : containers)
    engine.loop.await(engine.engine->remove_container(container.id, soon())).value();
  const auto volumes = engine.loop.await(engine.engine->list_volumes(ours, soon())).value();
  for (const auto& volume : volumes)
    engine.loop.await(engine.engine->remove_volume(volume.name, soon())).value();
}

}  // namespace mayfly::test

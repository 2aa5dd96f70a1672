// The one way a sandbox is made: every field of its container and of its workspace volume, from a SandboxSpec
// and what the engine is. There is no option to weaken it. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "runtime/docker/engine_facts.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::docker {

inline constexpr std::string_view kRunnerDirectory = "/.mayfly";
inline constexpr std::string_view kRunnerPath = "/.mayfly/runner";
inline constexpr std::string_view kWorkspaceDirectory = "/workspace";
inline constexpr std::uint64_t kSandboxUid = 65532;

// The runner keeps its own descriptors at 100 and above, so the hard limit of its container is never lower
// than this; it sets the task's own limit on the task's processes.
inline constexpr std::uint64_t kLeastOpenFiles = 256;

std::string container_name(const SandboxId& id);
std::string workspace_volume_name(const SandboxId& id);

// Refuses (invalid_argument) what the engine would read as "unlimited": no memory, processor or pids.
Result<> check_sandbox_spec(const SandboxSpec& spec);

// `labels` as made for that name. Options are built from numbers only.
VolumeConfig make_workspace_volume(const SandboxSpec& spec, Labels labels);

ContainerConfig make_sandbox_container(const SandboxSpec& spec, const EngineFacts& engine,
                                       std::string runner_volume, Labels labels);

}  // namespace mayfly::docker

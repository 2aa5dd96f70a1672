// Makes Runtime::list of what an engine lists: containers and volumes of one sandbox together, foreign
// objects that carry our labels apart. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "docker_api/engine_types.hpp"
#include "runtime/docker/label_signature.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::docker {

// A container that is being removed is still listed, but without its name.
bool is_or_was_named(const ContainerSummary& container, std::string_view name);

SandboxState parse_sandbox_state(std::string_view engine_word);

// A copy of a label never touches the entry of the sandbox that it was copied from: what does not verify has
// an entry of its own. Labels whose value is no sandbox id are left out.
std::vector<SandboxListing> make_listing(const Installation& installation,
                                         const std::vector<ContainerSummary>& containers,
                                         const std::vector<VolumeInfo>& volumes);

}  // namespace mayfly::docker

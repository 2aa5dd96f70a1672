#include "runtime/docker/sandbox_listing.hpp"

#include <map>

#include "runtime/docker/hardened_profile.hpp"

namespace mayfly::docker {
namespace {

using Ours = std::map<SandboxId, SandboxListing>;

void add_container(const Installation& installation, const ContainerSummary& container, Ours& ours,
                   std::vector<SandboxListing>& foreign) {
  const auto id = parse_id<SandboxId>(find_label(container.labels, kLabelSandbox));
  if (!id) return;
  const std::string name = container_name(*id);
  const bool verified = is_or_was_named(container, name) &&
                        labels_verify(installation, ObjectKind::sandbox_container, name, container.labels);
  SandboxListing& entry = verified ? ours[*id] : foreign.emplace_back();
  entry.id = *id;
  entry.ours = verified;
  entry.state = parse_sandbox_state(container.state);
  entry.engine_id = container.id;
  entry.has_container = true;
}

void add_volume(const Installation& installation, const VolumeInfo& volume, Ours& ours,
                std::vector<SandboxListing>& foreign) {
  const auto id = parse_id<SandboxId>(find_label(volume.labels, kLabelSandbox));
  if (!id) return;
  const bool verified = volume.name == workspace_volume_name(*id) &&
                        labels_verify(installation, ObjectKind::workspace_volume, volume.name, volume.labels);
  SandboxListing& entry = verified ? ours[*id] : foreign.emplace_back();
  entry.id = *id;
  entry.ours = verified;
  entry.has_volume = true;
}

}  // namespace

bool is_or_was_named(const ContainerSummary& container, std::string_view name) {
  return container.name.empty() || container.name == name;
}

SandboxState parse_sandbox_state(std::string_view engine_word) {
  if (engine_word == "created") return SandboxState::created;
  if (engine_word == "running") return SandboxState::running;
  if (engine_word == "paused") return SandboxState::paused;
  if (engine_word == "exited") return SandboxState::exited;
  // "dead" is a removal that the engine could not finish.
  if (engine_word == "removing" || engine_word == "dead") return SandboxState::removing;
  return SandboxState::unknown;
}

std::vector<SandboxListing> make_listing(const Installation& installation,
                                         const std::vector<ContainerSummary>& containers,
                                         const std::vector<VolumeInfo>& volumes) {
  Ours ours;
  std::vector<SandboxListing> listing;
  for (const ContainerSummary& container : containers) add_container(installation, container, ours, listing);
  for (const VolumeInfo& volume : volumes) add_volume(installation, volume, ours, listing);
  for (auto& [id, entry] : ours) listing.push_back(std::move(entry));
  return listing;
}

}  // namespace mayfly::docker

// The labels of Mayfly's objects on an engine, and the signature that tells ours from copies. An image can
// carry any label and anybody may copy one: so the signature covers the object's own name, which no two
// objects share. No text of a tenant is ever in a label. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "docker_api/engine_types.hpp"

namespace mayfly::docker {

inline constexpr std::string_view kLabelSandbox = "dev.mayfly.sandbox";
inline constexpr std::string_view kLabelHelper =
    "dev.mayfly.helper";  // the container that fills the runner volume
inline constexpr std::string_view kLabelRunner = "dev.mayfly.runner";  // SHA-256 of the runner's binary
inline constexpr std::string_view kLabelInstallation = "dev.mayfly.installation";
inline constexpr std::string_view kLabelExpiresAt =
    "dev.mayfly.expires-at";  // when a reaper may take it for an orphan
inline constexpr std::string_view kLabelSignature = "dev.mayfly.signature";

// Who we are. The key never leaves the process.
struct Installation {
  InstallationId id;
  std::string key;
};

enum class ObjectKind { sandbox_container, workspace_volume, helper_container, runner_volume };

// What one object's labels say beside the installation. `subject` is the sandbox id, or the helper's own
// name; empty for the runner volume.
struct LabelContent {
  ObjectKind kind;
  std::string object_name;  // of the container or volume, as the engine knows it
  std::string subject;
  std::string runner_sha256;
  std::optional<WallTime> expires_at;
};

// All of our keys that the kind has, with the signature.
Labels make_labels(const Installation& installation, const LabelContent& content);

// Whether the labels were made by this installation for an object of this kind and name.
bool labels_verify(const Installation& installation, ObjectKind kind, std::string_view object_name,
                   const Labels& labels);

// Empty when the label is not there.
std::string find_label(const Labels& labels, std::string_view key);

}  // namespace mayfly::docker

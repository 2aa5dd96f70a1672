#include "runtime/docker/label_signature.hpp"

#include "base/digest.hpp"

namespace mayfly::docker {
namespace {

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::sandbox_container:
      return "sandbox-container";
    case ObjectKind::workspace_volume:
      return "workspace-volume";
    case ObjectKind::helper_container:
      return "helper-container";
    case ObjectKind::runner_volume:
      return "runner-volume";
  }
  return "";
}

std::string_view subject_key(ObjectKind kind) {
  return kind == ObjectKind::helper_container ? kLabelHelper : kLabelSandbox;
}

// Every part with its length before it, so that no two contents have the same text.
std::string sign(const Installation& installation, ObjectKind kind, std::string_view object_name,
                 const Labels& labels) {
  const std::string parts[] = {std::string(name_of(kind)),
                               std::string(object_name),
                               installation.id.str(),
                               find_label(labels, subject_key(kind)),
                               find_label(labels, kLabelRunner),
                               find_label(labels, kLabelExpiresAt)};
  std::string text = "mayfly labels 1";
  for (const std::string& part : parts) text += "\n" + std::to_string(part.size()) + ":" + part;
  return hmac_sha256_hex(installation.key, text);
}

}  // namespace

Labels make_labels(const Installation& installation, const LabelContent& content) {
  Labels labels{{std::string(kLabelInstallation), installation.id.str()},
                {std::string(kLabelRunner), content.runner_sha256}};
  if (!content.subject.empty()) labels.emplace(subject_key(content.kind), content.subject);
  if (content.expires_at) labels.emplace(kLabelExpiresAt, format_time(*content.expires_at));
  labels.emplace(kLabelSignature, sign(installation, content.kind, content.object_name, labels));
  return labels;
}

bool labels_verify(const Installation& installation, ObjectKind kind, std::string_view object_name,
                   const Labels& labels) {
  if (find_label(labels, kLabelInstallation) != installation.id.str()) return false;
  const std::string found = find_label(labels, kLabelSignature);
  return equal_in_constant_time(found, sign(installation, kind, object_name, labels));
}

std::string find_label(const Labels& labels, std::string_view key) {
  const auto found = labels.find(std::string(key));
  return found == labels.end() ? std::string() : found->second;
}

}  // namespace mayfly::docker

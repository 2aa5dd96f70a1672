#include "workspace/artifact_manifest.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "base/json.hpp"
#include "task/workspace_path.hpp"

namespace mayfly {
namespace {

constexpr int kVersion = 1;
constexpr std::string_view kHex = "0123456789abcdef";
// Our own file: bounded by what one task may hand in.
constexpr JsonLimits kLimits{.bytes = 512U << 20U, .depth = 8, .values = 50'000'000};

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kHex[byte >> 4U]);
    text.push_back(kHex[byte & 15U]);
  }
  return text;
}

std::optional<std::string> find_bytes(const std::string& hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = kHex.find(hex[i]);
    const std::size_t low = kHex.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4U | low));
  }
  return bytes;
}

tl::unexpected<Error> fail_manifest() {
  return fail(ErrorCode::corrupt, "the manifest of a task's artifacts is not what we wrote");
}

std::optional<std::uint64_t> find_number(const Json& object, const char* name, std::uint64_t most) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number_unsigned()) return std::nullopt;
  const auto value = member->get<std::uint64_t>();
  return value <= most ? std::optional(value) : std::nullopt;
}

const std::string* find_text(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member == object.end() ? nullptr : member->get_ptr<const std::string*>();
}

std::optional<ManifestEntry> find_entry(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto blob = find_number(json, "blob", std::numeric_limits<std::uint32_t>::max());
  const auto size = find_number(json, "size", std::numeric_limits<std::uint64_t>::max());
  const auto mode = find_number(json, "mode", 0777);
  const std::string* sha256 = find_text(json, "sha256");
  const std::string* hex = find_text(json, "path_hex");
  if (!blob || !size || !mode || sha256 == nullptr || hex == nullptr) return std::nullopt;
  auto path = find_bytes(*hex);
  if (!path || !check_workspace_path(*path)) return std::nullopt;
  const Artifact about{.path = std::move(*path),
                       .size = Bytes{*size},
                       .sha256 = *sha256,
                       .mode = static_cast<std::uint32_t>(*mode)};
  return ManifestEntry{.about = about, .blob = static_cast<std::uint32_t>(*blob)};
}

}  // namespace

const ManifestEntry* ArtifactManifest::find(std::string_view path) const {
  const auto at = std::ranges::lower_bound(
      entries, path, {}, [](const ManifestEntry& e) -> std::string_view { return e.about.path; });
  return at != entries.end() && at->about.path == path ? &*at : nullptr;
}

std::vector<Artifact> ArtifactManifest::artifacts() const {
  std::vector<Artifact> all;
  all.reserve(entries.size());
  for (const ManifestEntry& entry : entries) all.push_back(entry.about);
  return all;
}

std::string dump_manifest(const ArtifactManifest& manifest) {
  Json files = Json::array();
  for (const auto& [about, blob] : manifest.entries) {
    files.push_back({{"blob", blob},
                     {"path_hex", to_hex(about.path)},
                     {"size", about.size.count},
                     {"sha256", about.sha256},
                     {"mode", about.mode}});
  }
  const Json json = {{"version", kVersion}, {"attempt", manifest.attempt}, {"files", std::move(files)}};
  return dump_json(json) + "\n";
}

Result<ArtifactManifest> parse_manifest(std::string_view text) {
  const auto json = parse_json(text, kLimits);
  if (!json || !json->is_object() || json->value("version", Json()) != kVersion) return fail_manifest();
  const auto attempt = find_number(*json, "attempt", std::numeric_limits<std::uint32_t>::max());
  const auto files = json->find("files");
  if (!attempt || files == json->end() || !files->is_array()) return fail_manifest();
  ArtifactManifest manifest{.attempt = static_cast<std::uint32_t>(*attempt), .entries = {}};
  for (const Json& file : *files) {
    auto entry = find_entry(file);
    const bool rising =
        manifest.entries.empty() || (entry && manifest.entries.back().about.path < entry->about.path);
    if (!entry || !rising) return fail_manifest();
    manifest.entries.push_back(std::move(*entry));
  }
  return manifest;
}

Result<ArtifactPaths> artifact_paths(const std::filesystem::path& root, const TaskId& task) {
  if (!is_id_text(TaskId::prefix(), task.str()))
    return fail(ErrorCode::invalid_argument, "not the id of a task");
  return ArtifactPaths{.committed = root / task.str(),
                       .staging = root / (task.str() + std::string(kStagingSuffix))};
}

Result<ArtifactManifest> read_manifest(const std::filesystem::path& committed) {
  const auto text = read_file(committed / "manifest.json", Bytes{kLimits.bytes});
  if (!text) return fail_with(text);
  return parse_manifest(*text);
}

Result<> write_manifest(const std::filesystem::path& dir, const ArtifactManifest& manifest) {
  return write_file_durably(dir / "manifest.json", dump_manifest(manifest));
}

Result<FileDescriptor> open_blob(const std::filesystem::path& committed, const ManifestEntry& entry) {
  const auto dir = open_file(committed, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!dir) return fail_with(dir);
  const std::string name = std::to_string(entry.blob);
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a fifo in its place must not hold us up
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  FileDescriptor file(static_cast<int>(syscall(SYS_openat2, dir->get(), name.c_str(), &how, sizeof(how))));
  if (!file && errno != ENOENT && errno != ELOOP) {
    return fail_errno("open " + (committed / name).string(), errno);
  }
  struct stat facts {};
  const bool good = file && fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                    static_cast<std::uint64_t>(facts.st_size) == entry.about.size.count;
  if (!good)
    return fail(ErrorCode::corrupt,
                "the artifact in " + (committed / name).string() + " is not what we wrote");
  return file;
}

}  // namespace mayfly

// Which numbered blob holds which of a task's results: data_dir/artifacts/<task>/manifest.json. Blocking; on
// the pool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "task/task_record.hpp"

namespace mayfly {

struct ManifestEntry {
  Artifact about;
  std::uint32_t blob = 0;
};

// Sorted by path, each path once.
struct ArtifactManifest {
  std::uint32_t attempt = 0;  // whose results these are
  std::vector<ManifestEntry> entries;

  const ManifestEntry* find(std::string_view path) const;
  std::vector<Artifact> artifacts() const;
};

// Names stand in it as hex: they are any bytes, JSON is UTF-8.
std::string dump_manifest(const ArtifactManifest& manifest);
// corrupt when it is not what dump_manifest wrote.
Result<ArtifactManifest> parse_manifest(std::string_view text);

// The place of a task's results below `root`, and of those that are still being collected. invalid_argument
// for an id that make_id does not give.
struct ArtifactPaths {
  std::filesystem::path committed, staging;
};
Result<ArtifactPaths> artifact_paths(const std::filesystem::path& root, const TaskId& task);
inline constexpr std::string_view kStagingSuffix = ".staging";

// not_found when nothing was committed.
Result<ArtifactManifest> read_manifest(const std::filesystem::path& committed);
// Durable, with its directory.
Result<> write_manifest(const std::filesystem::path& dir, const ArtifactManifest& manifest);
// A regular file of the size that the manifest says, opened without following a link; else corrupt.
Result<FileDescriptor> open_blob(const std::filesystem::path& committed, const ManifestEntry& entry);

}  // namespace mayfly

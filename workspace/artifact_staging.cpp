#include "workspace/artifact_staging.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "task/workspace_path.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

Result<> remove_tree(const fs::path& dir) {
  std::error_code error;
  fs::remove_all(dir, error);
  if (error) return fail_errno("remove " + dir.string(), error.value());
  return {};
}

}  // namespace

Result<std::shared_ptr<ArtifactStaging>> ArtifactStaging::begin(ArtifactPaths paths, std::uint32_t attempt,
                                                                ArtifactBounds bounds) {
  if (auto emptied = remove_tree(paths.staging); !emptied) return fail_with(emptied);
  if (auto made = make_private_directory(paths.staging); !made) return fail_with(made);
  return std::shared_ptr<ArtifactStaging>(new ArtifactStaging(std::move(paths), attempt, bounds));
}

Result<> ArtifactStaging::begin_file(std::string path, std::uint32_t mode) {
  if (committed_ || open_) return fail(ErrorCode::internal, "an artifact was begun out of turn");
  if (auto safe = check_workspace_path(path); !safe) return safe;
  if (names_.contains(path))
    return fail(ErrorCode::invalid_argument, "an artifact of this name is there already");
  if (manifest_.entries.size() >= bounds_.files) return over_bounds();
  const std::uint32_t blob = next_blob_++;
  auto file =
      open_file(paths_.staging / std::to_string(blob), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file) return fail_with(file);
  Artifact about{.path = std::move(path), .size = {}, .sha256 = {}, .mode = mode & 0777U};
  open_.emplace(
      OpenFile{.entry = {.about = std::move(about), .blob = blob}, .file = std::move(*file), .digest = {}});
  return {};
}

Result<> ArtifactStaging::append(std::string_view data) {
  if (!open_) return fail(ErrorCode::internal, "no artifact is begun");
  if (data.size() > bounds_.bytes.count - bytes_) {
    auto refused = over_bounds();
    (void)abandon_file();
    return refused;
  }
  bytes_ += data.size();
  open_->entry.about.size.count += data.size();
  if (auto written = write_all(open_->file.get(), std::as_bytes(std::span(data))); !written) {
    (void)abandon_file();
    return written;
  }
  open_->digest.update(data);
  return {};
}

Result<Artifact> ArtifactStaging::finish_file() {
  if (!open_) return fail(ErrorCode::internal, "no artifact is begun");
  if (fdatasync(open_->file.get()) != 0) {
    auto failed = fail_errno("sync an artifact in " + paths_.staging.string(), errno);
    (void)abandon_file();
    return failed;
  }
  ManifestEntry entry = std::move(open_->entry);
  entry.about.sha256 = open_->digest.hex();
  open_.reset();
  names_.insert(entry.about.path);
  manifest_.entries.push_back(entry);
  return entry.about;
}

Result<> ArtifactStaging::abandon_file() {
  if (!open_) return {};
  bytes_ -= open_->entry.about.size.count;
  const auto path = paths_.staging / std::to_string(open_->entry.blob);
  open_.reset();
  if (unlink(path.c_str()) != 0) return fail_errno("remove " + path.string(), errno);
  return {};
}

Result<std::vector<Artifact>> ArtifactStaging::commit() {
  if (committed_) return fail(ErrorCode::internal, "the artifacts were committed before");
  (void)abandon_file();
  std::ranges::sort(manifest_.entries, {},
                    [](const ManifestEntry& e) -> std::string_view { return e.about.path; });
  if (auto written = write_manifest(paths_.staging, manifest_); !written) return fail_with(written);
  if (auto placed = put_in_place(); !placed) return fail_with(placed);
  committed_ = true;
  return manifest_.artifacts();
}

// One rename; an earlier attempt's results change places with ours and go.
Result<> ArtifactStaging::put_in_place() const {
  const char* from = paths_.staging.c_str();
  const char* to = paths_.committed.c_str();
  bool replaced = false;
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) != 0) {
    if (errno != EEXIST) return fail_errno("rename to " + paths_.committed.string(), errno);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) != 0) {
      return fail_errno("exchange with " + paths_.committed.string(), errno);
    }
    replaced = true;
  }
  if (auto synced = sync_directory(paths_.committed.parent_path()); !synced) return synced;
  return replaced ? remove_tree(paths_.staging) : Result<>{};
}

tl::unexpected<Error> ArtifactStaging::over_bounds() const {
  return fail(ErrorCode::payload_too_large, "the results are more than " + std::to_string(bounds_.files) +
                                                " files or " + std::to_string(bounds_.bytes.count) +
                                                " bytes: " + std::to_string(manifest_.entries.size()) +
                                                " files were kept, " + std::to_string(bytes_) +
                                                " bytes were read");
}

}  // namespace mayfly

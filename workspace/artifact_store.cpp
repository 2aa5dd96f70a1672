#include "workspace/artifact_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "workspace/artifact_manifest.hpp"
#include "workspace/artifact_staging.hpp"
#include "workspace/manifest_cache.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_piece(int fd, std::uint64_t offset, std::size_t size) {
  std::string piece(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(fd, piece.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("read an artifact", errno);
    if (count == 0) return fail(ErrorCode::corrupt, "an artifact is shorter than it was");
    done += static_cast<std::size_t>(count);
  }
  return piece;
}

Result<> remove_trees(const ArtifactPaths& paths) {
  for (const fs::path& dir : {paths.committed, paths.staging}) {
    std::error_code error;
    fs::remove_all(dir, error);
    if (error) return fail_errno("remove " + dir.string(), error.value());
  }
  return {};
}

}  // namespace

ArtifactWriter::ArtifactWriter(BlockingPool& pool, TaskId task, std::shared_ptr<ArtifactStaging> staging,
                               std::shared_ptr<ManifestCache> cache)
    : pool_(pool), task_(std::move(task)), staging_(std::move(staging)), cache_(std::move(cache)) {}

Async<> ArtifactWriter::begin_file(std::string path, std::uint32_t mode) {
  auto work = [staging = staging_, path = std::move(path), mode] { return staging->begin_file(path, mode); };
  return pool_.run(std::move(work));
}

Async<> ArtifactWriter::append(std::string data) {
  auto work = [staging = staging_, data = std::move(data)] { return staging->append(data); };
  return pool_.run(std::move(work));
}

Async<Artifact> ArtifactWriter::finish_file() {
  auto work = [staging = staging_] { return staging->finish_file(); };
  return pool_.run(std::move(work));
}

Async<> ArtifactWriter::abandon_file() {
  auto work = [staging = staging_] { return staging->abandon_file(); };
  return pool_.run(std::move(work));
}

Async<std::vector<Artifact>> ArtifactWriter::commit() {
  auto work = [staging = staging_] { return staging->commit(); };
  auto committed = co_await pool_.run(std::move(work));
  cache_->forget(task_);
  co_return committed;
}

StoredArtifact::StoredArtifact(BlockingPool& pool, Artifact about, FileDescriptor file)
    : pool_(pool), about_(std::move(about)), file_(std::make_shared<const FileDescriptor>(std::move(file))) {}

Async<std::string> StoredArtifact::read(std::uint64_t offset, std::size_t max_bytes) {
  if (offset >= about_.size.count) co_return std::string();
  const std::size_t size = std::min<std::uint64_t>(max_bytes, about_.size.count - offset);
  auto work = [file = file_, offset, size] { return read_piece(file->get(), offset, size); };
  co_return co_await pool_.run(std::move(work));
}

ArtifactStore::ArtifactStore(fs::path root, BlockingPool& pool)
    : root_(std::move(root)), pool_(pool), cache_(std::make_shared<ManifestCache>()) {}

Async<std::unique_ptr<ArtifactWriter>> ArtifactStore::begin(TaskId task, std::uint32_t attempt,
                                                            ArtifactBounds bounds) {
  auto paths = artifact_paths(root_, task);
  if (!paths) co_return fail_with(paths);
  auto work = [paths = std::move(*paths), attempt, bounds] {
    return ArtifactStaging::begin(paths, attempt, bounds);
  };
  auto staging = co_await pool_.run(std::move(work));
  if (!staging) co_return fail_with(staging);
  co_return std::make_unique<ArtifactWriter>(pool_, std::move(task), std::move(*staging), cache_);
}

Async<std::vector<Artifact>> ArtifactStore::list(TaskId task) {
  const auto manifest = co_await manifest_of(std::move(task));
  if (!manifest) co_return fail_with(manifest);
  co_return (*manifest)->artifacts();
}

Async<std::unique_ptr<StoredArtifact>> ArtifactStore::open(TaskId task, std::string path) {
  const auto manifest = co_await manifest_of(task);
  if (!manifest) co_return fail_with(manifest);
  const ManifestEntry* entry = (*manifest)->find(path);
  if (entry == nullptr) co_return fail(ErrorCode::not_found, "no such artifact of " + task.str());
  const auto paths = artifact_paths(root_, task);
  auto work = [committed = paths->committed, entry = *entry] { return open_blob(committed, entry); };
  auto file = co_await pool_.run(std::move(work));
  if (!file) co_return fail_with(file);
  co_return std::make_unique<StoredArtifact>(pool_, entry->about, std::move(*file));
}

Async<std::shared_ptr<const ArtifactManifest>> ArtifactStore::manifest_of(TaskId task) {
  if (auto known = cache_->find(task)) co_return known;
  auto paths = artifact_paths(root_, task);
  if (!paths) co_return fail_with(paths);
  const std::uint64_t read_at = cache_->generation();
  auto work = [committed = std::move(paths->committed)] { return read_manifest(committed); };
  auto manifest = co_await pool_.run(std::move(work));
  if (!manifest && manifest.error().code == ErrorCode::not_found) {
    co_return fail(ErrorCode::not_found, "no artifacts of " + task.str());
  }
  if (!manifest) co_return fail_with(manifest);
  auto shared = std::make_shared<const ArtifactManifest>(std::move(*manifest));
  cache_->put(task, shared, read_at);
  co_return shared;
}

Async<> ArtifactStore::remove(TaskId task) {
  auto paths = artifact_paths(root_, task);
  if (!paths) co_return fail_with(paths);
  auto work = [paths = std::move(*paths)] { return remove_trees(paths); };
  auto removed = co_await pool_.run(std::move(work));
  cache_->forget(task);
  co_return removed;
}

Async<Bytes> ArtifactStore::total_size() {
  auto work = [root = root_] { return size_of_tree(root); };
  co_return co_await pool_.run(std::move(work));
}

Result<std::unique_ptr<ArtifactStore>> open_artifact_store(const fs::path& data_dir, BlockingPool& pool) {
  auto root = data_dir / "artifacts";
  if (auto made = make_private_directory(root); !made) return fail_with(made);
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().ends_with(kStagingSuffix)) continue;
    fs::remove_all(entry->path(), error);
    if (error) break;
  }
  if (error) return fail_errno("clear " + root.string(), error.value());
  return std::make_unique<ArtifactStore>(std::move(root), pool);
}

}  // namespace mayfly

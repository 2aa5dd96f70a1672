// The files that tasks hand in as results, on our own disk: data_dir/artifacts/<task>/. A task's own names
// never become names on disk: contents lie in numbered blobs, names stand in a manifest. lifecycle writes
// (while the sandbox still lives), http reads. All calls from the I/O thread; disk work runs on the blocking
// pool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/task_types.hpp"
#include "base/file.hpp"
#include "base/ids.hpp"
#include "task/task_record.hpp"

namespace mayfly {

struct ArtifactManifest;
class ArtifactStaging;
class ManifestCache;

// What one task may hand in. A file or byte beyond it is payload_too_large, with the counts in the message.
struct ArtifactBounds {
  std::size_t files = 10'000;
  Bytes bytes = 1_GiB;
};

// Collects one attempt's results aside; nothing is visible before commit. Calls come one after the other.
// After an error (disk_full, io, payload_too_large) the file in hand is given up; earlier ones stay, and
// commit may still be called. Destroyed without commit, it leaves a staging directory, which the next begin
// of the task, remove, or the next start of the program takes away.
class ArtifactWriter {
 public:
  ArtifactWriter(BlockingPool& pool, TaskId task, std::shared_ptr<ArtifactStaging> staging,
                 std::shared_ptr<ManifestCache> cache);

  // `path` is relative to the workspace (check_workspace_path), any bytes else; `mode` keeps its 0777 bits
  // only. invalid_argument for an unsafe path, or one that was there before.
  Async<> begin_file(std::string path, std::uint32_t mode);
  Async<> append(std::string data);
  // The file is on disk (fdatasync) when this returns.
  Async<Artifact> finish_file();
  // Gives up the file in hand, as if it had not been begun.
  Async<> abandon_file();
  // Manifest and directories on disk, then one rename puts all in place (of an earlier attempt's results, if
  // any). The list is sorted by path. An unfinished file is not in it. Only once.
  Async<std::vector<Artifact>> commit();

 private:
  BlockingPool& pool_;
  TaskId task_;
  std::shared_ptr<ArtifactStaging> staging_;
  std::shared_ptr<ManifestCache> cache_;
};

// An open file of a committed task: stays readable after remove.
class StoredArtifact {
 public:
  StoredArtifact(BlockingPool& pool, Artifact about, FileDescriptor file);

  const Artifact& about() const { return about_; }
  Bytes size() const { return about_.size; }
  // At most `max_bytes` from `offset`; empty at and behind the end.
  Async<std::string> read(std::uint64_t offset, std::size_t max_bytes);

 private:
  BlockingPool& pool_;
  Artifact about_;
  std::shared_ptr<const FileDescriptor> file_;
};

class ArtifactStore {
 public:
  // `root` is data_dir/artifacts and exists; see open_artifact_store.
  ArtifactStore(std::filesystem::path root, BlockingPool& pool);
  ArtifactStore(const ArtifactStore&) = delete;
  ArtifactStore& operator=(const ArtifactStore&) = delete;

  Async<std::unique_ptr<ArtifactWriter>> begin(TaskId task, std::uint32_t attempt, ArtifactBounds bounds);
  // Sorted by path; not_found when nothing was committed; corrupt when the manifest is not what we wrote.
  Async<std::vector<Artifact>> list(TaskId task);
  // not_found for an unknown task or path; corrupt when the blob is missing or has another size.
  Async<std::unique_ptr<StoredArtifact>> open(TaskId task, std::string path);
  // Everything of the task, committed or not. Idempotent.
  Async<> remove(TaskId task);
  // Bytes in all, staging included. Walks the directory: for retention and metrics, not for each request.
  Async<Bytes> total_size();

 private:
  Async<std::shared_ptr<const ArtifactManifest>> manifest_of(TaskId task);

  std::filesystem::path root_;
  BlockingPool& pool_;
  std::shared_ptr<ManifestCache> cache_;
};

// Makes the directory and takes away what a killed process left half-made. Blocking; at start-up.
Result<std::unique_ptr<ArtifactStore>> open_artifact_store(const std::filesystem::path& data_dir,
                                                           BlockingPool& pool);

}  // namespace mayfly

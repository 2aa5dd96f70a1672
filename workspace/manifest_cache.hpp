// The manifest that was read last: downloading all of a task's files one by one reads it once. On the I/O
// thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ids.hpp"
#include "workspace/artifact_manifest.hpp"

namespace mayfly {

class ManifestCache {
 public:
  using Manifest = std::shared_ptr<const ArtifactManifest>;

  Manifest find(const TaskId& task) const { return task == task_ ? manifest_ : nullptr; }
  // Rises when something was replaced or removed: what was read before that is not put.
  std::uint64_t generation() const { return generation_; }
  void put(const TaskId& task, Manifest manifest, std::uint64_t read_at) {
    if (read_at != generation_) return;
    task_ = task;
    manifest_ = std::move(manifest);
  }
  void forget(const TaskId& task) {
    ++generation_;
    if (task == task_) manifest_.reset();
  }

 private:
  TaskId task_;
  Manifest manifest_;
  std::uint64_t generation_ = 0;
};

}  // namespace mayfly

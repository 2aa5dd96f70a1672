// Where a task's segments lie: root/<last two characters of the id>/<task id>/<attempt>.log, and beside them
// `sealed` once nothing more will come. Blocking; on the pool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "log_store/segment_format.hpp"

namespace mayfly {

class LogDirectory {
 public:
  // invalid_argument when the id is not of the form that make_id gives: anything else could name another
  // place.
  static Result<LogDirectory> of(const std::filesystem::path& root, const TaskId& task);

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;
  std::filesystem::path segment(std::uint32_t attempt) const;
  // Rising; empty when there are none.
  Result<std::vector<std::uint32_t>> attempts() const;
  Result<FileDescriptor> open_segment(std::uint32_t attempt) const;

  // The sizes that stand in the marker; nothing when the log is not complete. corrupt when it is not what we
  // wrote.
  Result<std::optional<segment::StreamEnds>> find_seal() const;
  bool is_sealed() const;
  // Cuts torn tails, puts all segments on disk, then the marker. Returns by how much the log grew (or
  // shrank).
  Result<std::int64_t> seal() const;
  // The ends of both streams over the attempts below `before`.
  Result<segment::StreamEnds> measure(std::uint32_t before) const;
  // Removes everything; returns how much that was. Idempotent.
  Result<Bytes> remove() const;

 private:
  explicit LogDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace mayfly

// File descriptors with an owner, and the few file operations that must be durable. Blocking: call on a
// BlockingPool.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace mayfly {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC added; not_found when there is no such file or a directory above it is missing.
Result<FileDescriptor> open_file(const std::filesystem::path& path, int flags, mode_t mode = 0600);
Result<void> write_all(int fd, std::span<const std::byte> data);
// The whole file; payload_too_large when it is longer than `limit`.
Result<std::string> read_file(const std::filesystem::path& path, Bytes limit = 4_MiB);
// As read_file, for secrets: forbidden unless it is a regular file of ours that nobody else may read or
// write.
Result<std::string> read_private_file(const std::filesystem::path& path, Bytes limit = 64_KiB);
// Beside, fsync, rename, fsync of the directory: after a crash the old or the new content is there, whole.
Result<void> write_file_durably(const std::filesystem::path& path, std::string_view content,
                                mode_t mode = 0600);
Result<void> sync_directory(const std::filesystem::path& dir);
// mkdir -p with 0700; a directory that exists must be ours and not writable by others (else forbidden).
Result<void> make_private_directory(const std::filesystem::path& dir);

// Bytes of all regular files below `root`, links not followed; 0 when it is not there. Files may come and go
// meanwhile.
Result<Bytes> size_of_tree(const std::filesystem::path& root);

}  // namespace mayfly

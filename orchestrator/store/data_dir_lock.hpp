// One server a data directory: holds flock(2) on data_dir/lock for its life; the kernel lets go when the
// process dies.
#pragma once

#include <filesystem>

#include "base/file.hpp"

namespace mayfly {

class DataDirLock {
 public:
  // Makes the directory when absent (private). conflict, with the holder's pid, when another process has it.
  static Result<DataDirLock> acquire(const std::filesystem::path& data_dir);

 private:
  explicit DataDirLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace mayfly

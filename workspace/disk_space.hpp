// How much room a file system has left for us. Blocking (statvfs(3)): on the pool.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/bytes.hpp"

namespace mayfly {

struct DiskSpace {
  Bytes free;  // for us: without what is kept for root
  Bytes total;
  // 0 and 0 where the file system counts none (btrfs).
  std::uint64_t free_inodes = 0, total_inodes = 0;
};

// Of the file system that holds `path`, which exists.
Result<DiskSpace> disk_space(const std::filesystem::path& path);

}  // namespace mayfly

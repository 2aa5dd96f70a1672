#include "workspace/disk_space.hpp"

#include <sys/statvfs.h>

#include <cerrno>
#include <string>

namespace mayfly {

Result<DiskSpace> disk_space(const std::filesystem::path& path) {
  struct statvfs facts {};
  if (statvfs(path.c_str(), &facts) != 0)
    return fail_errno("ask for the free space of " + path.string(), errno);
  return DiskSpace{.free = Bytes{facts.f_bavail * facts.f_frsize},
                   .total = Bytes{facts.f_blocks * facts.f_frsize},
                   .free_inodes = facts.f_favail,
                   .total_inodes = facts.f_files};
}

}  // namespace mayfly

// A disk that is soon full: a tmpfs of its own, mounted in a mount namespace that only the body's thread (and
// the threads it starts) can see, so nothing is left when the test dies.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "base/bytes.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

inline void must(int result, const char* what) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), what);
}

// Runs `body(path of the mount)` on a thread of its own and rethrows what it throws. Returns false, without
// having run it, where we may not mount (not root).
template <class Body>
bool on_small_disk(Bytes size, Body body) {
  bool ran = false;
  std::exception_ptr thrown;
  const TempDir dir;
  std::thread([&] {
    try {
      if (unshare(CLONE_NEWNS) != 0 && errno == EPERM) return;
      must(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
      const std::string options = "mode=0700,size=" + std::to_string(size.count);
      must(mount("tmpfs", dir.path().c_str(), "tmpfs", 0, options.c_str()), "mount a tmpfs");
      ran = true;
      body(dir.path());
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
  return ran;
}

// Takes all free space but about `left`; returns the file that takes it.
inline std::filesystem::path fill_disk(const std::filesystem::path& dir, Bytes left) {
  struct statvfs facts {};
  must(statvfs(dir.c_str(), &facts), "statvfs");
  const std::uint64_t free = facts.f_bavail * facts.f_frsize;
  const auto filler = dir / "filler";
  std::ofstream(filler) << std::string(free > left.count ? free - left.count : 0, 'x');
  return filler;
}

}  // namespace mayfly::test

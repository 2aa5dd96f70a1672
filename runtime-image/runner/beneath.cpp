#include "beneath.hpp"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "task/workspace_path.hpp"

namespace mayfly::runner {
namespace {

constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

UniqueFd open_with_openat2(int dir, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how)));
}

// What openat2 refuses with EINVAL and openat lets pass is not asked for here: O_PATH goes with few flags.
int with_guards(int flags) {
  return (flags & O_PATH) != 0 ? flags | O_CLOEXEC | O_NOFOLLOW : flags | kAlways;
}

}  // namespace

UniqueFd open_directory_at(int dir, const std::string& name) {
  return UniqueFd(::openat(dir, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

UniqueFd open_beneath_by_steps(int dir, const std::string& path, int flags, mode_t mode) {
  if (!check_workspace_path(path)) {
    errno = EXDEV;
    return UniqueFd();
  }
  UniqueFd at;
  std::size_t begin = 0;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
    at = open_directory_at(at ? at.get() : dir, path.substr(begin, slash - begin));
    if (!at) return UniqueFd();
    begin = slash + 1;
  }
  return UniqueFd(::openat(at ? at.get() : dir, path.c_str() + begin, with_guards(flags), mode));
}

UniqueFd open_beneath(int dir, const std::string& path, int flags, mode_t mode) {
  if (!check_workspace_path(path)) {
    errno = EXDEV;
    return UniqueFd();
  }
  UniqueFd fd = open_with_openat2(dir, path, with_guards(flags), mode);
  if (!fd && errno == ENOSYS) return open_beneath_by_steps(dir, path, flags, mode);
  return fd;
}

Result<UniqueFd> make_parents_beneath(int dir, std::string_view path) {
  UniqueFd at(::fcntl(dir, F_DUPFD_CLOEXEC, kLowestOwnFd));
  if (!at) return fail_errno("workspace", errno);
  std::size_t begin = 0;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', begin)) {
    const std::string name(path.substr(begin, slash - begin));
    if (::mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
      return fail_errno("mkdir " + std::string(path.substr(0, slash)), errno);
    }
    at = open_directory_at(at.get(), name);
    if (!at) return fail_errno("open " + std::string(path.substr(0, slash)), errno);
    begin = slash + 1;
  }
  return at;
}

}  // namespace mayfly::runner

#include "store/data_dir_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace mayfly {
namespace {

// What the holder wrote; empty when it could not (a full disk) or has not yet.
std::string read_holder(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof(text), 0);
  std::string holder(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

// The pid is only a help for people: on a full disk the lock holds without it.
void write_holder(int fd) {
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

Result<DataDirLock> DataDirLock::acquire(const std::filesystem::path& data_dir) {
  if (auto made = make_private_directory(data_dir); !made) return fail_with(made);
  const auto path = data_dir / "lock";
  auto file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return fail_with(file);
  if (flock(file->get(), LOCK_EX | LOCK_NB) == 0) {
    write_holder(file->get());
    return DataDirLock(std::move(*file));
  }
  if (errno != EWOULDBLOCK) return fail_errno("lock " + path.string(), errno);
  const std::string holder = read_holder(file->get());
  return fail(ErrorCode::conflict, "the data directory " + data_dir.string() + " is in use by " +
                                       (holder.empty() ? "another process" : "the process " + holder) +
                                       ": stop it, or choose another data directory");
}

}  // namespace mayfly

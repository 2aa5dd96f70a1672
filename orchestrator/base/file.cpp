#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/ids.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

std::string about(std::string_view what, const fs::path& path) {
  return std::string(what) + " " + path.string();
}

Result<void> sync_descriptor(int fd, const fs::path& path) {
  if (fsync(fd) != 0) return fail_errno(about("sync", path), errno);
  return {};
}

// The directory that holds the name; "." for a bare name.
fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A new file with the content, on disk. On failure it may be there in part.
Result<void> write_new_file(const fs::path& path, std::string_view content, mode_t mode) {
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file) return fail_with(file);
  if (fchmod(file->get(), mode) != 0) return fail_errno(about("set the mode of", path), errno);
  if (auto written = write_all(file->get(), std::as_bytes(std::span(content))); !written) return written;
  if (auto synced = sync_descriptor(file->get(), path); !synced) return synced;
  // Some file systems (NFS, FUSE) report a failed write only here.
  if (close(file->release()) != 0 && errno != EINTR) return fail_errno(about("close", path), errno);
  return {};
}

Result<void> replace_with(const fs::path& fresh, const fs::path& path) {
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return fail_errno(about("rename to", path), errno);
  return sync_directory(directory_of(path));
}

// One level. A directory made here is on disk, with its name, when this returns.
Result<void> make_directory(const fs::path& dir) {
  if (mkdir(dir.c_str(), 0700) == 0) return sync_directory(directory_of(dir));
  if (errno == EEXIST) return {};
  return fail_errno(about("make the directory", dir), errno);
}

Result<void> check_private(const fs::path& dir) {
  const auto opened = open_file(dir, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail_with(opened);
  struct stat facts {};
  if (fstat(opened->get(), &facts) != 0) return fail_errno(about("stat", dir), errno);
  if (facts.st_uid != geteuid()) {
    return fail(ErrorCode::forbidden, about("the directory", dir) + " belongs to user " +
                                          std::to_string(facts.st_uid) + ", not to us (" +
                                          std::to_string(geteuid()) + "): use another one or chown it");
  }
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::forbidden, about("the directory", dir) + " is writable by others: chmod go-w it");
  }
  return {};
}

Result<std::string> read_to_end(int fd, const fs::path& path, Bytes limit) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  std::string content;
  // The size is not asked for: it may change meanwhile, and the files of /proc have none.
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + kPiece);
    const ssize_t count = read(fd, content.data() + before, kPiece);
    content.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count == 0) return content;
    if (count < 0 && errno != EINTR) return fail_errno(about("read", path), errno);
    if (content.size() > limit.count) {
      return fail(ErrorCode::payload_too_large,
                  about("the file", path) + " is longer than " + std::to_string(limit.count) + " bytes");
    }
  }
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

// On Linux the descriptor is gone even when close(2) says EINTR; trying again could close another's.
void FileDescriptor::reset() {
  if (fd_ >= 0) close(release());
}

Result<FileDescriptor> open_file(const fs::path& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0) return FileDescriptor(fd);
  if (errno == ENOENT) return fail(ErrorCode::not_found, about("open", path) + ": no such file or directory");
  return fail_errno(about("open", path), errno);
}

Result<void> write_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t count = write(fd, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("write", errno);
    data = data.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> read_file(const fs::path& path, Bytes limit) {
  const auto file = open_file(path, O_RDONLY);
  if (!file) return fail_with(file);
  return read_to_end(file->get(), path, limit);
}

Result<std::string> read_private_file(const fs::path& path, Bytes limit) {
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return fail_with(file);
  struct stat about_file {};
  if (fstat(file->get(), &about_file) != 0) return fail_errno(about("look at", path), errno);
  constexpr mode_t kOthers = 077;
  if (!S_ISREG(about_file.st_mode) || about_file.st_uid != geteuid() || (about_file.st_mode & kOthers) != 0) {
    return fail(ErrorCode::forbidden, path.string() +
                                          " holds a secret: it must be a regular file of the user who runs "
                                          "this, with mode 0600");
  }
  return read_to_end(file->get(), path, limit);
}

Result<void> write_file_durably(const fs::path& path, std::string_view content, mode_t mode) {
  fs::path fresh = path;
  fresh += ".new-" + make_random_hex(8);  // a name of its own, so that two writers never share one
  auto written = write_new_file(fresh, content, mode);
  if (written) written = replace_with(fresh, path);
  if (!written) unlink(fresh.c_str());
  return written;
}

Result<void> sync_directory(const fs::path& dir) {
  const auto opened = open_file(dir, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail_with(opened);
  return sync_descriptor(opened->get(), dir);
}

Result<void> make_private_directory(const fs::path& dir) {
  fs::path level;
  for (const fs::path& name : dir) {
    level /= name;
    if (name.empty() || level == level.root_path()) continue;
    if (auto made = make_directory(level); !made) return made;
  }
  return check_private(dir);
}

Result<Bytes> size_of_tree(const fs::path& root) {
  Bytes sum;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // a file may be removed while we walk
    if (entry->is_symlink(gone) || !entry->is_regular_file(gone)) continue;
    const auto size = entry->file_size(gone);
    if (!gone) sum.count += size;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail_errno(about("measure", root), error.value());
  }
  return sum;
}

}  // namespace mayfly

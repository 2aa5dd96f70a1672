#include "http/token_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/file.hpp"
#include "base/ids.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kLeastTokenBytes = 32;
constexpr std::size_t kMostTokenBytes = 512;

Result<void> check_owner_and_mode(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return fail_errno("stat " + name, errno);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::forbidden, "the token file " + name + " is not a regular file");
  if (status.st_uid != ::geteuid())
    return fail(ErrorCode::forbidden, "the token file " + name + " belongs to another user");
  if ((status.st_mode & 0177U) == 0) return {};
  return fail(ErrorCode::forbidden,
              "others could read the token file " + name + "; make a new token (remove the file)");
}

Result<std::string> read_token(int fd, const std::string& name) {
  std::string text(kMostTokenBytes + 2, '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  if (count < 0) return fail_errno("read " + name, errno);
  text.resize(static_cast<std::size_t>(count));
  while (text.ends_with('\n')) text.pop_back();
  const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (visible && text.size() >= kLeastTokenBytes && text.size() <= kMostTokenBytes) return text;
  return fail(ErrorCode::forbidden,
              "the token file " + name + " holds no token of 32 to 512 visible characters");
}

Result<std::string> make_token(const std::filesystem::path& file) {
  std::string token = "mft_" + make_random_hex(32);
  if (auto written = write_file_durably(file, token + '\n', 0600); !written)
    return fail_with(std::move(written));
  return token;
}

}  // namespace

Result<std::string> load_or_make_token(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) return make_token(file);
  if (fd < 0 && errno == ELOOP)
    return fail(ErrorCode::forbidden, "the token file " + file.native() + " is a link");
  if (fd < 0) return fail_errno("open " + file.native(), errno);
  const FileDescriptor owner(fd);
  if (auto checked = check_owner_and_mode(fd, file.native()); !checked) return fail_with(std::move(checked));
  return read_token(fd, file.native());
}

}  // namespace mayfly::http

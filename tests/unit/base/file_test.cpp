#include "base/file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "support/temp_dir.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

struct Scratch : test::TempDir {
  fs::path operator/(std::string_view name) const { return path() / name; }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), fs::directory_iterator()));
  }
};

mode_t mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

// While it lives no file of this process may grow beyond `bytes`: write(2) then fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit wanted{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &wanted);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST_CASE("a file descriptor closes once and moves without a leak") {
  auto opened = open_file("/dev/null", O_RDWR);
  REQUIRE(opened);
  FileDescriptor first = *std::move(opened);
  const int fd = first.get();
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  FileDescriptor second = std::move(first);
  CHECK_FALSE(first);  // NOLINT(bugprone-use-after-move): that it is empty is the point
  CHECK(second.get() == fd);
  FileDescriptor third(dup(fd));
  const int other = third.get();
  third = std::move(second);
  CHECK_FALSE(is_open(other));
  CHECK(third.get() == fd);
  third.reset();
  CHECK_FALSE(is_open(fd));
  CHECK_FALSE(third);
  third.reset();
}

TEST_CASE("release hands a descriptor out without closing it") {
  FileDescriptor owner(dup(STDERR_FILENO));
  const int fd = owner.release();
  owner.reset();
  CHECK(is_open(fd));
  close(fd);
}

TEST_CASE("open_file says not_found for a missing file and io for the rest") {
  const Scratch scratch;
  const auto missing = open_file(scratch / "none", O_RDONLY);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK_THAT(missing.error().message, Contains((scratch / "none").string()));
  const auto directory = open_file(scratch.path(), O_WRONLY);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().code == ErrorCode::io);
}

TEST_CASE("read_file returns the whole file up to its limit") {
  const Scratch scratch;
  const std::string content = std::string(200'000, 'x') + std::string("\0end", 4);
  REQUIRE(write_file_durably(scratch / "f", content));
  CHECK(read_file(scratch / "f") == content);
  CHECK(read_file(scratch / "f", {content.size()}) == content);
  const auto too_long = read_file(scratch / "f", {content.size() - 1});
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().code == ErrorCode::payload_too_large);
  REQUIRE(write_file_durably(scratch / "empty", ""));
  CHECK(read_file(scratch / "empty", {0}) == "");
}

TEST_CASE("read_file reads files without a size and refuses directories and endless ones") {
  const auto status = read_file("/proc/self/status");
  REQUIRE(status);
  CHECK_THAT(*status, Contains("VmRSS"));
  CHECK_FALSE(read_file("/proc/self"));
  const auto endless = read_file("/dev/zero", 1_MiB);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == ErrorCode::payload_too_large);
}

TEST_CASE("read_private_file refuses a secret that others can reach") {
  const Scratch scratch;
  const auto secret = scratch / "secret";
  REQUIRE(write_file_durably(secret, "hunter2"));
  CHECK(read_private_file(secret) == "hunter2");
  CHECK(read_private_file(secret, {6}).error().code == ErrorCode::payload_too_large);
  CHECK(read_private_file(scratch / "none").error().code == ErrorCode::not_found);
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610}) {
    CAPTURE(mode);
    REQUIRE(chmod(secret.c_str(), mode) == 0);
    const auto refused = read_private_file(secret);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::forbidden);
    CHECK_THAT(refused.error().message, Contains("0600") && !Contains("hunter2"));
  }
}

TEST_CASE("read_private_file follows no link and waits for no pipe") {
  const Scratch scratch;
  REQUIRE(write_file_durably(scratch / "secret", "hunter2"));
  fs::create_symlink(scratch / "secret", scratch / "link");
  CHECK_FALSE(read_private_file(scratch / "link"));
  REQUIRE(mkfifo((scratch / "fifo").c_str(), 0600) == 0);
  CHECK(read_private_file(scratch / "fifo").error().code == ErrorCode::forbidden);
  CHECK(read_private_file(scratch.path()).error().code == ErrorCode::forbidden);
}

TEST_CASE("write_file_durably replaces the content and the mode and leaves nothing beside it") {
  const Scratch scratch;
  REQUIRE(write_file_durably(scratch / "f", "old"));
  CHECK(mode_of(scratch / "f") == 0600);
  REQUIRE(write_file_durably(scratch / "f", "new and longer", 0644));
  CHECK(read_file(scratch / "f") == "new and longer");
  CHECK(mode_of(scratch / "f") == 0644);
  CHECK(scratch.count() == 1);
}

TEST_CASE("write_file_durably replaces a link and not the file behind it") {
  const Scratch scratch;
  REQUIRE(write_file_durably(scratch / "target", "kept"));
  fs::create_symlink(scratch / "target", scratch / "link");
  REQUIRE(write_file_durably(scratch / "link", "fresh"));
  CHECK(read_file(scratch / "target") == "kept");
  CHECK(read_file(scratch / "link") == "fresh");
  CHECK_FALSE(fs::is_symlink(scratch / "link"));
}

TEST_CASE("a write that fails half way leaves the old content whole and nothing beside it") {
  const Scratch scratch;
  REQUIRE(write_file_durably(scratch / "f", "old"));
  Result<void> written;
  {
    const FileSizeLimit limit(4096);
    written = write_file_durably(scratch / "f", std::string(100'000, 'x'));
  }
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().message, Contains("File too large"));
  CHECK(read_file(scratch / "f") == "old");
  CHECK(scratch.count() == 1);
}

TEST_CASE("write_file_durably over a directory or in a missing one fails and leaves nothing") {
  const Scratch scratch;
  fs::create_directory(scratch / "d");
  CHECK_FALSE(write_file_durably(scratch / "d", "x"));
  CHECK_FALSE(write_file_durably(scratch / "none/f", "x"));
  CHECK(scratch.count() == 1);
}

TEST_CASE("a full device is told by its own code") {
  const auto full = open_file("/dev/full", O_WRONLY);
  REQUIRE(full);
  const auto written = write_all(full->get(), std::as_bytes(std::span(std::string_view("x"))));
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::disk_full);
}

TEST_CASE("sync_directory refuses what is no directory") {
  const Scratch scratch;
  CHECK(sync_directory(scratch.path()));
  REQUIRE(write_file_durably(scratch / "f", "x"));
  CHECK_FALSE(sync_directory(scratch / "f"));
  CHECK(sync_directory(scratch / "none").error().code == ErrorCode::not_found);
}

TEST_CASE("make_private_directory makes every level for us alone") {
  const Scratch scratch;
  const mode_t before = umask(0);
  const auto made = make_private_directory(scratch / "a/b/c");
  umask(before);
  REQUIRE(made);
  CHECK(mode_of(scratch / "a") == 0700);
  CHECK(mode_of(scratch / "a/b/c") == 0700);
  CHECK(make_private_directory(scratch / "a/b/c"));
  CHECK(make_private_directory(scratch / "a/b/c/"));
}

TEST_CASE("make_private_directory refuses one that others may write and names the remedy") {
  const Scratch scratch;
  const auto shared = scratch / "shared";
  const mode_t mode = GENERATE(mode_t{0770}, mode_t{0702}, mode_t{01777});
  fs::create_directory(shared);
  REQUIRE(chmod(shared.c_str(), mode) == 0);
  const auto made = make_private_directory(shared);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::forbidden);
  CHECK_THAT(made.error().message, Contains("chmod go-w"));
  REQUIRE(chmod(shared.c_str(), 0755) == 0);
  CHECK(make_private_directory(shared));
}

TEST_CASE("make_private_directory refuses one of another user") {
  const Scratch scratch;
  fs::path dir = "/usr";
  if (geteuid() == 0) {  // root owns /usr, and may give one away
    dir = scratch / "foreign";
    fs::create_directory(dir);
    REQUIRE(chown(dir.c_str(), 65534, 65534) == 0);
  }
  const auto made = make_private_directory(dir);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::forbidden);
}

TEST_CASE("make_private_directory fails where a file stands in the way") {
  const Scratch scratch;
  REQUIRE(write_file_durably(scratch / "f", "x"));
  CHECK_FALSE(make_private_directory(scratch / "f"));
  CHECK_FALSE(make_private_directory(scratch / "f/sub"));
}

}  // namespace
}  // namespace mayfly

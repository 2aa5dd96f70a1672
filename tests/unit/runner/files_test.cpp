// Listing and reading result files in a tree that hostile code has arranged.
#include "runtime-image/runner/files.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "channel/record.hpp"
#include "runtime-image/runner/unique_fd.hpp"
#include "support/temp_dir.hpp"

using namespace mayfly;
using namespace mayfly::runner;
using Paths = std::vector<std::string>;

namespace {

class Workspace {
 public:
  Workspace() : fd_(::open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  int fd() const { return fd_.get(); }
  std::string path(const std::string& name) const { return (dir_.path() / name).string(); }
  void write(const std::string& name, const std::string& content = "x") const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }
  channel::FilesPage list(Paths patterns, const std::string& after = "", std::uint32_t limit = 1000) const {
    auto page = list_files(fd(), {.patterns = std::move(patterns), .after = after, .limit = limit});
    REQUIRE(page);
    return *page;
  }
  Result<FilePiece> read(const std::string& name, std::uint64_t offset = 0,
                         std::uint32_t length = 1000) const {
    return read_file_piece(fd(), {.path = name, .offset = offset, .length = length});
  }

 private:
  test::TempDir dir_;
  UniqueFd fd_;
};

Paths paths(const channel::FilesPage& page) {
  Paths found;
  for (const auto& file : page.files) found.push_back(file.path);
  return found;
}

}  // namespace

TEST_CASE("files are listed in the byte order of their whole paths") {
  Workspace workspace;
  for (const char* name : {"a/z", "a-b", "a.c", "b", "a/b/c", "a0"}) workspace.write(name);
  CHECK(paths(workspace.list({"**"})) == Paths{"a-b", "a.c", "a/b/c", "a/z", "a0", "b"});
}

TEST_CASE("only what matches is listed with size and permission bits") {
  Workspace workspace;
  workspace.write("out/one.txt", "12345");
  workspace.write("out/two.bin");
  workspace.write("other/three.txt");
  ::chmod(workspace.path("out/one.txt").c_str(), 04751);
  const auto page = workspace.list({"out/*.txt", "none"});
  REQUIRE(page.files.size() == 1);
  CHECK(page.files[0].size == 5);
  CHECK(page.files[0].mode == 0751);
  CHECK_FALSE(page.more);
}

TEST_CASE("pages follow each other without a gap or a repeat") {
  Workspace workspace;
  Paths expected;
  for (int i = 0; i < 700; ++i) {
    const std::string name = "d" + std::to_string(i % 7) + "/f" + std::to_string(1000 + i);
    workspace.write(name);
    expected.push_back(name);
    if (i % 10 == 0) std::filesystem::create_symlink("/etc/passwd", workspace.path(name + "-link"));
  }
  std::sort(expected.begin(), expected.end());
  Paths found, skipped;
  for (bool more = true; more;) {
    const auto page = workspace.list({"**"}, found.empty() ? "" : found.back(), 128);
    const auto part = paths(page);
    REQUIRE((!page.more || !part.empty()));
    found.insert(found.end(), part.begin(), part.end());
    skipped.insert(skipped.end(), page.skipped.begin(), page.skipped.end());
    CHECK(page.members().size() < channel::kMaxHeadBytes - 100);
    more = page.more;
  }
  CHECK(found == expected);
  CHECK(skipped.size() == 70);
}

TEST_CASE("long and strange names make short pages instead of records over their bound") {
  Workspace workspace;
  for (char letter = 'a'; letter < 'z'; ++letter)
    workspace.write(std::string(200, letter) + std::string(50, '\x01'));
  workspace.write(std::string(200, 'z') + "\xff");
  Paths found;
  for (bool more = true; more;) {
    const auto page = workspace.list({"*"}, found.empty() ? "" : found.back());
    CHECK(page.members().size() < channel::kMaxHeadBytes - 100);
    for (const auto& path : paths(page)) found.push_back(path);
    more = page.more;
  }
  CHECK(found.size() == 26);
}

TEST_CASE("P03 links are named and never followed") {
  Workspace workspace;
  workspace.write("real/file");
  std::filesystem::create_symlink("/etc/passwd", workspace.path("absolute"));
  std::filesystem::create_symlink("real/file", workspace.path("relative"));
  std::filesystem::create_symlink("self", workspace.path("self"));
  std::filesystem::create_directory_symlink("/etc", workspace.path("etc"));
  std::filesystem::create_directory_symlink("/proc/self/root", workspace.path("root"));
  const auto page = workspace.list({"**"});
  CHECK(paths(page) == Paths{"real/file"});
  CHECK(page.skipped == Paths{"absolute", "etc", "relative", "root", "self"});
  for (const char* name : {"absolute", "relative", "self", "etc/passwd", "root/etc/passwd"}) {
    CHECK_FALSE(workspace.read(name));
  }
}

TEST_CASE("P05 fifos and sockets are named and reading one does not block") {
  Workspace workspace;
  REQUIRE(::mkfifo(workspace.path("fifo").c_str(), 0600) == 0);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  workspace.path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(workspace.list({"**"}).skipped == Paths{"fifo", "socket"});
  CHECK_FALSE(workspace.read("fifo"));
  CHECK_FALSE(workspace.read("socket"));
  CHECK_FALSE(workspace.read("."));
}

TEST_CASE("P05 a sparse file of 100 GB is listed with its size and read in pieces") {
  Workspace workspace;
  workspace.write("sparse");
  REQUIRE(::truncate(workspace.path("sparse").c_str(), 100LL << 30) == 0);
  CHECK(workspace.list({"*"}).files[0].size == 100ULL << 30U);
  const auto piece = workspace.read("sparse", 50ULL << 30U, 1U << 30U);
  REQUIRE(piece);
  CHECK(piece->bytes.size() == channel::kMaxPayloadBytes);
  CHECK_FALSE(piece->chunk.end);
}

TEST_CASE("F46 paths that lead out are refused") {
  Workspace workspace;
  workspace.write("file");
  for (const char* name :
       {"../file", "/etc/passwd", "a/../../etc/passwd", "", ".", "..", "file/", "./file"}) {
    CHECK_FALSE(workspace.read(name));
  }
}

TEST_CASE("pieces join to the whole file and the last one says so") {
  Workspace workspace;
  std::string content(120'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31);
  workspace.write("file", content);
  std::string joined;
  for (bool end = false; !end;) {
    const auto piece = workspace.read("file", joined.size(), 50'000);
    REQUIRE(piece);
    joined += piece->bytes;
    end = piece->chunk.end;
  }
  CHECK(joined == content);
  CHECK(workspace.read("file", 999'999)->bytes.empty());
  CHECK(workspace.read("file", 999'999)->chunk.end);
}

TEST_CASE("P05 a list gives up over a bounded number of entries") {
  Workspace workspace;
  for (int i = 0; i < 60; ++i) workspace.write("f" + std::to_string(i));
  const channel::FilesList request{.patterns = {"*"}, .after = "", .limit = 10};
  CHECK(list_files(workspace.fd(), request, 60));
  const auto refused = list_files(workspace.fd(), request, 59);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::payload_too_large);
}

TEST_CASE("directories that cannot match are not looked into") {
  Workspace workspace;
  for (int i = 0; i < 60; ++i) workspace.write("cache/f" + std::to_string(i));
  workspace.write("out/result");
  const channel::FilesList request{.patterns = {"out/*"}, .after = "", .limit = 10};
  const auto page = list_files(workspace.fd(), request, 10);
  REQUIRE(page);
  CHECK(paths(*page) == Paths{"out/result"});
}

TEST_CASE("a tree deeper than any result ends the walk and is named") {
  Workspace workspace;
  std::string deep = "d";
  for (int i = 0; i < 80; ++i) deep += "/d";
  workspace.write(deep + "/file");
  const auto page = workspace.list({"**"});
  CHECK(page.files.empty());
  CHECK(page.skipped.size() == 1);
}

TEST_CASE("a pattern that is none is refused") {
  Workspace workspace;
  CHECK_FALSE(list_files(workspace.fd(), {.patterns = {"../*"}, .after = "", .limit = 10}));
}

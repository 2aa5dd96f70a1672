// Opening beneath a directory, by openat2 and by single steps: both must refuse the same.
#include "runtime-image/runner/beneath.hpp"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/temp_dir.hpp"

using namespace mayfly;
using namespace mayfly::runner;
namespace fs = std::filesystem;

TEST_CASE("P03 both ways of opening refuse what leads outside and take what does not") {
  test::TempDir dir;
  fs::create_directories(dir.path() / "a/b");
  std::ofstream(dir.path() / "a/b/file") << "x";
  fs::create_directory_symlink("b", dir.path() / "a/inside");
  fs::create_directory_symlink("/etc", dir.path() / "a/outside");
  fs::create_symlink("/etc/passwd", dir.path() / "a/link");
  const UniqueFd top(::open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto open = GENERATE(open_beneath, open_beneath_by_steps);
  CHECK(open(top.get(), "a/b/file", O_RDONLY, 0));
  CHECK(open(top.get(), "a/b", O_PATH | O_DIRECTORY, 0));
  for (const char* path : {"a/inside/file", "a/outside/passwd", "a/link", "../x", "/etc/passwd",
                           "a/../a/b/file", "", "a/b/none", "a/b/file/x"}) {
    CHECK_FALSE(open(top.get(), path, O_RDONLY, 0));
  }
}

TEST_CASE("parents are made and never through a link") {
  test::TempDir dir, other;
  fs::create_directory_symlink(other.path(), dir.path() / "link");
  const UniqueFd top(::open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  CHECK(make_parents_beneath(top.get(), "x/y/z/file"));
  CHECK(fs::is_directory(dir.path() / "x/y/z"));
  CHECK_FALSE(fs::exists(dir.path() / "x/y/z/file"));
  CHECK_FALSE(make_parents_beneath(top.get(), "link/sub/file"));
  CHECK(fs::is_empty(other.path()));
}

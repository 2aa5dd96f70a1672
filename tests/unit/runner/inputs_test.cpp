// What is put before bind, and what a put that fails leaves behind.
#include "runtime-image/runner/inputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/small_disk.hpp"
#include "support/temp_dir.hpp"

using namespace mayfly;
using namespace mayfly::runner;
using channel::PutTarget;

namespace {

struct Fixture {
  test::TempDir dir, scratch;
  UniqueFd workspace{::open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  Inputs inputs{workspace.get(), scratch.path().string()};

  void put(const std::string& path, std::uint64_t offset, std::string_view bytes, std::uint32_t mode = 0644) {
    inputs.put({.target = PutTarget::workspace, .path = path, .mode = mode, .offset = offset}, bytes);
  }
  void put_to(PutTarget target, std::uint64_t offset, std::string_view bytes) {
    inputs.put({.target = target, .path = "", .mode = 0, .offset = offset}, bytes);
  }
  std::string content(const std::string& path) const {
    std::ifstream file(dir.path() / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

}  // namespace

TEST_CASE("pieces make a file with exactly its mode") {
  Fixture fixture;
  fixture.put("a/b", 0, "one ", 0751);
  fixture.put("a/b", 4, "two", 0751);
  fixture.put("c", 0, "");
  fixture.inputs.finish();
  CHECK_FALSE(fixture.inputs.fault());
  CHECK(fixture.content("a/b") == "one two");
  struct stat found {};
  REQUIRE(::stat((fixture.dir.path() / "a/b").c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0751);
}

TEST_CASE("a read-only input is written and then read-only") {
  Fixture fixture;
  fixture.put("ro", 0, "abc", 0444);
  fixture.put("ro", 3, "def", 0444);
  fixture.inputs.finish();
  CHECK_FALSE(fixture.inputs.fault());
  CHECK(fixture.content("ro") == "abcdef");
}

TEST_CASE("a piece out of order spoils the task") {
  Fixture fixture;
  fixture.put("a", 0, "one");
  fixture.put("a", 5, "two");
  REQUIRE(fixture.inputs.fault());
  CHECK(fixture.inputs.fault()->cause == Reason::runner_protocol_error);
  Fixture other;
  other.put("a", 3, "two");
  CHECK(other.inputs.fault());
}

TEST_CASE("F46 a mode with set-id bits and a path that leads out spoil the task") {
  Fixture fixture;
  fixture.put("a", 0, "x", 04755);
  REQUIRE(fixture.inputs.fault());
  CHECK(std::filesystem::is_empty(fixture.dir.path()));
  for (const char* path : {"../a", "/a", "a/../b", ""}) {
    Fixture other;
    other.put(path, 0, "x");
    CHECK(other.inputs.fault());
  }
}

TEST_CASE("F46 an input over a fifo or a link of the image spoils the task without blocking") {
  Fixture fixture;
  REQUIRE(::mkfifo((fixture.dir.path() / "fifo").c_str(), 0600) == 0);
  fixture.put("fifo", 0, "x");
  CHECK(fixture.inputs.fault());
  Fixture other;
  std::filesystem::create_symlink(other.scratch.path() / "target", other.dir.path() / "link");
  other.put("link", 0, "x");
  CHECK(other.inputs.fault());
  CHECK(std::filesystem::is_empty(other.scratch.path()));
}

TEST_CASE("a full workspace is no_space and the rest is not written") {
  const auto body = [](const std::filesystem::path& disk) {
    const UniqueFd workspace(::open(disk.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    Inputs inputs(workspace.get(), "/nowhere");
    const std::string piece(48 * 1024, 'x');
    for (std::uint64_t offset = 0; offset < 10 * piece.size(); offset += piece.size()) {
      inputs.put({.target = PutTarget::workspace, .path = "big", .mode = 0644, .offset = offset}, piece);
    }
    REQUIRE(inputs.fault());
    CHECK(inputs.fault()->cause == Reason::no_space);
    inputs.put({.target = PutTarget::workspace, .path = "small", .mode = 0644, .offset = 0}, "");
    CHECK_FALSE(std::filesystem::exists(disk / "small"));
  };
  if (!test::on_small_disk(256_KiB, body)) WARN("not run: mounting a small disk takes root");
}

TEST_CASE("a link at the script's name is replaced and not followed") {
  Fixture fixture;
  const auto script = fixture.scratch.path() / "mayfly-script";
  std::filesystem::create_symlink(fixture.dir.path() / "target", script);
  fixture.put_to(PutTarget::script, 0, "echo");
  fixture.inputs.finish();
  CHECK_FALSE(fixture.inputs.fault());
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(script)));
  CHECK_FALSE(std::filesystem::exists(fixture.dir.path() / "target"));
}

TEST_CASE("inputs are bounded in all and so is the spec") {
  Fixture fixture;
  const std::string megabyte(1U << 20U, 'x');
  fixture.put_to(PutTarget::standard_input, 0, megabyte);
  fixture.put_to(PutTarget::script, 0, megabyte);
  fixture.put("a", 0, megabyte);
  fixture.put("b", 0, megabyte);
  CHECK_FALSE(fixture.inputs.fault());
  fixture.put("c", 0, "x");
  CHECK(fixture.inputs.fault());
  Fixture other;
  other.put_to(PutTarget::spec, 0, megabyte);
  other.put_to(PutTarget::spec, megabyte.size(), megabyte);
  CHECK_FALSE(other.inputs.fault());
  other.put_to(PutTarget::spec, 2 * megabyte.size(), "x");
  CHECK(other.inputs.fault());
}

TEST_CASE("the first fault is kept and nothing is written after it") {
  Fixture fixture;
  fixture.put("../a", 0, "x");
  const std::string first = fixture.inputs.fault()->message;
  fixture.put("good", 0, "x");
  CHECK(fixture.inputs.fault()->message == first);
  CHECK(std::filesystem::is_empty(fixture.dir.path()));
}

TEST_CASE("a sandbox without a workspace takes no files") {
  test::TempDir scratch;
  Inputs inputs(-1, scratch.path().string());
  inputs.put({.target = PutTarget::workspace, .path = "a", .mode = 0644, .offset = 0}, "x");
  CHECK(inputs.fault());
}

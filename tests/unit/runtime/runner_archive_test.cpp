#include "runtime/docker/runner_archive.hpp"

#include <catch2/catch.hpp>

#include "tar_builder.hpp"

using namespace mayfly;
using namespace mayfly::docker;
using test::TarEntry;

namespace {

const std::string kBinary("\177ELF static\0binary", 18);

RunnerVolumeContent content_of(const std::vector<TarEntry>& entries) {
  return check_runner_archive(test::build_tar(entries), kBinary).value();
}

TarEntry directory(unsigned mode = 0755) {
  return {TarEntry::Kind::directory, ".mayfly/", "", mode, 0};
}
TarEntry runner(const std::string& content = kBinary, unsigned mode = 0555, int uid = 0) {
  return {TarEntry::Kind::file, ".mayfly/runner", content, mode, uid};
}

}  // namespace

TEST_CASE("the runner's archive is one executable file of root") {
  const auto entries = test::read_tar(make_runner_archive(kBinary));
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].path == "runner");
  CHECK(entries[0].content == kBinary);
  CHECK(entries[0].mode == 0555);
  CHECK(entries[0].uid == 0);
  CHECK(make_runner_archive(kBinary) == make_runner_archive(kBinary));
}

TEST_CASE("a volume with the runner alone is right and one with nothing is empty") {
  CHECK(content_of({directory(), runner()}) == RunnerVolumeContent::right);
  CHECK(content_of({directory()}) == RunnerVolumeContent::empty);
}

TEST_CASE("a volume with anything else than the runner is wrong") {
  CHECK(content_of({directory(), runner(kBinary.substr(1))}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(std::string(kBinary.size(), 'x'))}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(kBinary + "x")}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(kBinary, 0755)}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(kBinary, 04555)}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(kBinary, 0555, 65532)}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(0777), runner()}) == RunnerVolumeContent::wrong);
  CHECK(content_of({runner()}) == RunnerVolumeContent::wrong);
  CHECK(content_of({directory(), runner(), runner()}) == RunnerVolumeContent::wrong);
  const TarEntry other{TarEntry::Kind::file, ".mayfly/ld.so", "x", 0555, 0};
  CHECK(content_of({directory(), runner(), other}) == RunnerVolumeContent::wrong);
  const TarEntry link{TarEntry::Kind::symlink, ".mayfly/runner", "/bin/sh", 0555, 0};
  CHECK(content_of({directory(), link}) == RunnerVolumeContent::wrong);
}

TEST_CASE("what is no tar archive is a broken protocol") {
  CHECK(check_runner_archive(std::string(2048, 'x'), kBinary).error().code == ErrorCode::protocol);
}

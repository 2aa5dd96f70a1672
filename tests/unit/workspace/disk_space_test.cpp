#include "workspace/disk_space.hpp"

#include <catch2/catch.hpp>

#include "support/small_disk.hpp"

namespace mayfly {
namespace {

TEST_CASE("disk space falls by what is written") {
  const bool ran = test::on_small_disk(4_MiB, [](const std::filesystem::path& disk) {
    const auto before = disk_space(disk);
    REQUIRE(before.has_value());
    CHECK(before->total == 4_MiB);
    CHECK(before->free == 4_MiB);
    CHECK(before->free_inodes > 0);
    CHECK(before->free_inodes < before->total_inodes);
    test::fill_disk(disk, 1_MiB);
    CHECK(disk_space(disk)->free == 1_MiB);
    CHECK(disk_space(disk)->free_inodes == before->free_inodes - 1);
  });
  if (!ran) WARN("not run: mounting a tmpfs takes root");
}

TEST_CASE("disk space of a place that is not there is an error") {
  CHECK_FALSE(disk_space("/no/such/place").has_value());
}

}  // namespace
}  // namespace mayfly

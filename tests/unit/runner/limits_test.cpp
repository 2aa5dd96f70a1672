// What counts as a hit limit, and what of the output is kept.
#include <catch2/catch.hpp>

#include "runtime-image/runner/limit_watch.hpp"
#include "runtime-image/runner/output_pump.hpp"

using namespace mayfly;
using namespace mayfly::runner;

namespace {

CgroupSample counted(std::uint64_t oom_kills, std::uint64_t pids_refused = 0) {
  CgroupSample sample;
  sample.oom_kills = oom_kills;
  sample.pids_refused = pids_refused;
  return sample;
}

using Hits = std::vector<LimitHit>;

}  // namespace

TEST_CASE("F11 a child killed for memory is a note at the second look and told once") {
  LimitWatch watch;
  watch.begin(counted(3));
  CHECK(watch.look(counted(3), DiskSpace::left).empty());
  CHECK(watch.look(counted(4), DiskSpace::left).empty());
  CHECK(watch.look(counted(4), DiskSpace::left) == Hits{LimitHit::memory});
  CHECK(watch.look(counted(5), DiskSpace::left).empty());
  CHECK(watch.look(counted(5), DiskSpace::left).empty());
}

TEST_CASE("F11 the main process killed for memory takes a SIGKILL that was not ours and a risen count") {
  LimitWatch watch;
  watch.begin(counted(0));
  const auto end = watch.look_at_end(counted(1), MainEnd::killed_by_kernel_or_task, DiskSpace::left);
  CHECK(end.oom_killed_main);
  CHECK(end.hits.empty());
}

TEST_CASE("F11 a SIGKILL alone is not called out of memory") {
  LimitWatch watch;
  watch.begin(counted(1));
  CHECK_FALSE(
      watch.look_at_end(counted(1), MainEnd::killed_by_kernel_or_task, DiskSpace::left).oom_killed_main);
}

TEST_CASE("F11 memory that ran out of a child just before a good end is a note") {
  LimitWatch watch;
  watch.begin(counted(0));
  const auto end = watch.look_at_end(counted(1), MainEnd::by_itself, DiskSpace::left);
  CHECK_FALSE(end.oom_killed_main);
  CHECK(end.hits == Hits{LimitHit::memory});
}

TEST_CASE("F11 our own SIGKILL is never out of memory") {
  LimitWatch watch;
  watch.begin(counted(0));
  const auto end = watch.look_at_end(counted(1), MainEnd::killed_by_us, DiskSpace::left);
  CHECK_FALSE(end.oom_killed_main);
  CHECK(end.hits == Hits{LimitHit::memory});
}

TEST_CASE("F11 a child killed earlier does not explain the main process's death") {
  LimitWatch watch;
  watch.begin(counted(0));
  watch.look(counted(1), DiskSpace::left);
  watch.look(counted(1), DiskSpace::left);
  CHECK_FALSE(
      watch.look_at_end(counted(1), MainEnd::killed_by_kernel_or_task, DiskSpace::left).oom_killed_main);
}

TEST_CASE("R01 refused forks are a note at once and at the end") {
  LimitWatch watch;
  watch.begin(counted(0, 7));
  CHECK(watch.look(counted(0, 7), DiskSpace::left).empty());
  CHECK(watch.look(counted(0, 9), DiskSpace::left) == Hits{LimitHit::pids});
  CHECK(watch.look_at_end(counted(0, 10), MainEnd::by_itself, DiskSpace::left).hits.empty());
  LimitWatch late;
  late.begin(counted(0, 7));
  CHECK(late.look_at_end(counted(0, 8), MainEnd::by_itself, DiskSpace::left).hits == Hits{LimitHit::pids});
}

TEST_CASE("R03 a full workspace is a note") {
  LimitWatch watch;
  watch.begin(CgroupSample{});
  CHECK(watch.look(CgroupSample{}, DiskSpace::none_left) == Hits{LimitHit::disk});
  CHECK(watch.look(CgroupSample{}, DiskSpace::none_left).empty());
}

TEST_CASE("F08 a quota keeps exactly its bytes and passes only beyond") {
  LogQuota quota(100);
  CHECK(quota.admit(60) == 60);
  CHECK(quota.admit(40) == 40);
  CHECK_FALSE(quota.passed());
  CHECK(quota.admit(1) == 0);
  CHECK(quota.passed());
  CHECK(quota.admit(50) == 0);
  CHECK(quota.kept() == 100);
  CHECK(quota.dropped() == 51);
}

TEST_CASE("a quota of zero has no limit") {
  LogQuota quota(0);
  CHECK(quota.admit(1U << 30U) == 1U << 30U);
  CHECK_FALSE(quota.passed());
}

TEST_CASE("F32 a task that fills its workspace and ends at once has hit its disk limit") {
  LimitWatch watch;
  watch.begin(counted(0));
  CHECK(watch.look_at_end(counted(0), MainEnd::by_itself, DiskSpace::none_left).hits == Hits{LimitHit::disk});
}

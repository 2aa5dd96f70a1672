// The cgroup of a sandbox on version 1 and version 2, from files as the kernel writes them.
#include "runtime-image/runner/cgroup.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "runtime-image/runner/small_file.hpp"
#include "support/temp_dir.hpp"

using namespace mayfly;
using namespace mayfly::runner;

namespace {

struct Files {
  test::TempDir dir;
  std::string root() const { return dir.path().string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((dir.path() / name).parent_path());
    std::ofstream(dir.path() / name) << text;
  }
};

void write_v2(const Files& files, const std::string& at) {
  files.write(at + "memory.current", "1000\n");
  files.write(at + "memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n");
  files.write(at + "cpu.stat", "usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\n");
  files.write(at + "pids.current", "4\n");
  files.write(at + "pids.events", "max 9\n");
}

}  // namespace

TEST_CASE("a version 1 cgroup is read from its controllers") {
  Files files;
  files.write("memory/memory.usage_in_bytes", "1000\n");
  files.write("memory/memory.max_usage_in_bytes", "2000\n");
  files.write("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  files.write("cpuacct/cpuacct.usage", "5000000\n");
  files.write("pids/pids.current", "4\n");
  const Cgroup cgroup(files.root(), "4:memory:/\n0::/\n");
  CHECK(cgroup.version() == 1);
  const auto sample = cgroup.sample();
  CHECK(sample.memory == 1000U);
  CHECK(sample.memory_peak == 2000U);
  CHECK(sample.oom_kills == 3U);
  CHECK(sample.cpu_us == 5000U);
  CHECK(sample.pids == 4U);
  CHECK_FALSE(sample.pids_peak);  // not on this kernel
  CHECK_FALSE(sample.pids_refused);
}

TEST_CASE("a version 2 cgroup is read at the root of its namespace") {
  Files files;
  files.write("cgroup.controllers", "cpu memory pids\n");
  write_v2(files, "");
  const Cgroup cgroup(files.root(), "0::/\n");
  CHECK(cgroup.version() == 2);
  const auto sample = cgroup.sample();
  CHECK(sample.memory == 1000U);
  CHECK_FALSE(sample.memory_peak);  // before Linux 5.19
  CHECK(sample.oom_kills == 3U);
  CHECK(sample.cpu_us == 5000U);
  CHECK(sample.pids_refused == 9U);
}

TEST_CASE("a version 2 cgroup without a namespace is found by its path") {
  Files files;
  files.write("cgroup.controllers", "cpu memory pids\n");
  write_v2(files, "system.slice/docker-x.scope/");
  CHECK(Cgroup(files.root(), "0::/system.slice/docker-x.scope\n").sample().memory == 1000U);
  CHECK(Cgroup(files.root(), "0::/elsewhere\n").version() == 0);
}

TEST_CASE("no cgroup is version 0 and counts nothing") {
  const Cgroup none;
  CHECK(none.version() == 0);
  CHECK_FALSE(none.sample().memory);
}

TEST_CASE("a field is found by its whole name") {
  CHECK(find_field("oom_kill_disable 1\noom_kill 3\n", "oom_kill") == "3");
  CHECK(find_field("CapEff:\t00ff\nCapBnd:\t01\n", "CapBnd") == "01");
  CHECK_FALSE(find_field("abc\n", "abcd"));
  CHECK_FALSE(find_field("", "a"));
  CHECK(find_number("17 rest") == 17U);
  CHECK_FALSE(find_number("x"));
  CHECK_FALSE(find_number(""));
}

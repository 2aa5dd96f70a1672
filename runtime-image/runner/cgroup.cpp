#include "cgroup.hpp"

#include <unistd.h>

#include "small_file.hpp"

namespace mayfly::runner {
namespace {

bool is_there(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_small_file(path);
  return text ? find_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key) {
  const auto text = read_small_file(path);
  const auto field = text ? find_field(*text, key) : std::nullopt;
  return field ? find_number(*field) : std::nullopt;
}

// The first that exists: a container sees its own cgroup at the root of the mount; where the engine gave it
// no cgroup namespace on version 2, below it at the path that /proc/self/cgroup names.
std::string find_v2(const std::string& root, const std::string& self) {
  if (!is_there(root + "/cgroup.controllers")) return {};
  if (is_there(root + "/memory.current")) return root;
  const auto path = find_field(self, "0:");
  return path && path->starts_with('/') && is_there(root + std::string(*path) + "/memory.current")
             ? root + std::string(*path)
             : std::string();
}

std::string find_v1(const std::string& root, std::initializer_list<const char*> names, const char* file) {
  for (const char* name : names) {
    std::string dir = root + "/" + name;
    if (is_there(dir + "/" + file)) return dir;
  }
  return {};
}

}  // namespace

Cgroup::Cgroup(const std::string& root, const std::string& self) {
  memory_ = cpu_ = pids_ = find_v2(root, self);
  if (!memory_.empty()) {
    version_ = 2;
    return;
  }
  memory_ = find_v1(root, {"memory"}, "memory.usage_in_bytes");
  cpu_ = find_v1(root, {"cpuacct", "cpu,cpuacct"}, "cpuacct.usage");
  pids_ = find_v1(root, {"pids"}, "pids.current");
  if (!memory_.empty() || !cpu_.empty() || !pids_.empty()) version_ = 1;
}

CgroupSample Cgroup::sample() const {
  if (version_ == 2) return sample_v2();
  return version_ == 1 ? sample_v1() : CgroupSample{};
}

CgroupSample Cgroup::sample_v1() const {
  CgroupSample sample;
  sample.cpu_us = number_in(cpu_ + "/cpuacct.usage");
  if (sample.cpu_us) *sample.cpu_us /= 1000;  // nanoseconds
  sample.memory = number_in(memory_ + "/memory.usage_in_bytes");
  sample.memory_peak = number_in(memory_ + "/memory.max_usage_in_bytes");
  sample.oom_kills = number_in(memory_ + "/memory.oom_control", "oom_kill");
  sample.pids = number_in(pids_ + "/pids.current");
  sample.pids_peak = number_in(pids_ + "/pids.peak");
  sample.pids_refused = number_in(pids_ + "/pids.events", "max");
  return sample;
}

CgroupSample Cgroup::sample_v2() const {
  CgroupSample sample;
  sample.cpu_us = number_in(cpu_ + "/cpu.stat", "usage_usec");
  sample.memory = number_in(memory_ + "/memory.current");
  sample.memory_peak = number_in(memory_ + "/memory.peak");
  sample.oom_kills = number_in(memory_ + "/memory.events", "oom_kill");
  sample.pids = number_in(pids_ + "/pids.current");
  sample.pids_peak = number_in(pids_ + "/pids.peak");
  sample.pids_refused = number_in(pids_ + "/pids.events", "max");
  return sample;
}

Cgroup make_own_cgroup() {
  if (::getpid() != 1) return Cgroup();
  return Cgroup("/sys/fs/cgroup", read_small_file("/proc/self/cgroup").value_or(std::string()));
}

}  // namespace mayfly::runner

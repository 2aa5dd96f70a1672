#include "usage_meter.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace mayfly::runner {
namespace {

std::uint64_t own_cpu_ms() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  const auto ms = [](const timeval& t) {
    return static_cast<std::uint64_t>(t.tv_sec * 1000 + t.tv_usec / 1000);
  };
  return ms(own.ru_utime) + ms(own.ru_stime);
}

}  // namespace

std::uint64_t UsageMeter::cpu_ms() const {
  return last_.cpu_us ? *last_.cpu_us / 1000 : tree_.cpu_ms() + own_cpu_ms();
}

void UsageMeter::begin() {
  look();
  cpu_before_ = cpu_ms();
  own_cpu_before_ = own_cpu_ms();
}

const CgroupSample& UsageMeter::look() {
  last_ = cgroup_.sample();
  memory_peak_ = std::max({memory_peak_, last_.memory.value_or(0), last_.memory_peak.value_or(0)});
  pids_peak_ = std::max({pids_peak_, last_.pids.value_or(0), last_.pids_peak.value_or(0)});
  return last_;
}

Usage UsageMeter::usage(std::int64_t stalled_ms) const {
  Usage usage;
  usage.cpu_ms = cpu_ms() - cpu_before_;
  usage.memory_bytes = last_.memory.value_or(0);
  usage.memory_peak_bytes = memory_peak_;
  usage.pids = last_.pids.value_or(0);
  usage.pids_peak = pids_peak_;
  usage.stalled_ms = static_cast<std::uint64_t>(stalled_ms);
  return usage;
}

std::int64_t UsageMeter::task_cpu_ms() const {
  const std::uint64_t all = cpu_ms() - cpu_before_;
  const std::uint64_t own = own_cpu_ms() - own_cpu_before_;
  return static_cast<std::int64_t>(all - std::min(all, own));
}

}  // namespace mayfly::runner

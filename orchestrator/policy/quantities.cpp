#include "policy/quantities.hpp"

#include <array>

namespace mayfly {
namespace {

constexpr std::uint64_t kMostBytes = 16ULL << 40U;  // 16 TiB: sums of several stay far from 2^64
constexpr std::uint64_t kMostMillis = Millis(std::chrono::hours(24 * 365)).count();

std::uint64_t to_number(Bytes size) {
  return size.count;
}
std::uint64_t to_number(std::uint64_t count) {
  return count;
}
std::uint64_t to_number(std::int64_t millicpus) {
  return millicpus < 0 ? 0 : static_cast<std::uint64_t>(millicpus);
}
std::uint64_t to_number(Millis duration) {
  return to_number(std::int64_t{duration.count()});
}

void assign(Bytes& to, std::uint64_t value) {
  to.count = value;
}
void assign(std::uint64_t& to, std::uint64_t value) {
  to = value;
}
void assign(std::int64_t& to, std::uint64_t value) {
  to = static_cast<std::int64_t>(value);
}
void assign(Millis& to, std::uint64_t value) {
  to = Millis(static_cast<std::int64_t>(value));
}

template <auto Member, class Values>
std::uint64_t get_member(const Values& values) {
  return to_number(values.*Member);
}

template <auto Member, class Values>
void set_member(Values& values, std::uint64_t value) {
  assign(values.*Member, value);
}

template <auto Member, class Asked>
std::optional<std::uint64_t> asked_member(const Asked& asked) {
  if (!(asked.*Member)) return std::nullopt;
  return to_number(*(asked.*Member));
}

template <auto Member, auto AskedMember>
constexpr LimitQuantity limit(std::string_view name, QuantityUnit unit, std::uint64_t least,
                              std::uint64_t most, std::string_view why_least,
                              ZeroMeans zero = ZeroMeans::zero) {
  return {name,
          unit,
          zero,
          least,
          most,
          why_least,
          get_member<Member, Limits>,
          set_member<Member, Limits>,
          asked_member<AskedMember, LimitsAsked>};
}

template <auto Member, auto AskedMember>
constexpr TimeoutQuantity timeout(std::string_view name, std::uint64_t least,
                                  ZeroMeans zero = ZeroMeans::zero) {
  return {name,
          QuantityUnit::duration,
          zero,
          least,
          kMostMillis,
          "the phase would end before it begins",
          get_member<Member, Timeouts>,
          set_member<Member, Timeouts>,
          asked_member<AskedMember, TimeoutsAsked>};
}

using L = Limits;
using LA = LimitsAsked;
constexpr std::array kLimits{
    limit<&L::millicpus, &LA::millicpus>("cpus", QuantityUnit::millicpus, 10, 1'024'000,
                                         "the kernel's smallest quota is 1 ms in a period of 100 ms"),
    limit<&L::memory, &LA::memory>(
        "memory", QuantityUnit::bytes, 6ULL << 20U, kMostBytes,
        "no container engine takes less; a process would be killed before it runs"),
    limit<&L::workspace, &LA::workspace>("workspace", QuantityUnit::bytes, 1ULL << 20U, kMostBytes,
                                         "inputs of up to 1 MiB must fit into it"),
    limit<&L::tmp, &LA::tmp>("tmp", QuantityUnit::bytes, 4ULL << 20U, kMostBytes,
                             "ordinary tools fail on a smaller /tmp"),
    limit<&L::shm, &LA::shm>("shm", QuantityUnit::bytes, 4096, kMostBytes,
                             "one page is the smallest /dev/shm, and 0 would be the engine's own 64 MiB"),
    limit<&L::log_bytes, &LA::log_bytes>("log", QuantityUnit::bytes, 1024, kMostBytes,
                                         "a task must be able to say why it failed"),
    limit<&L::pids, &LA::pids>("pids", QuantityUnit::count, 1, 4096,
                               "a task is at least one process, and 0 would be no limit to the engine"),
    limit<&L::open_files, &LA::open_files>("open_files", QuantityUnit::count, 16, 1'048'576,
                                           "a program cannot load its libraries with fewer"),
    limit<&L::cpu_time, &LA::cpu_time>("cpu_time", QuantityUnit::duration, 1, kMostMillis, "",
                                       ZeroMeans::no_limit),
};

using T = Timeouts;
using TA = TimeoutsAsked;
constexpr std::array kTimeouts{
    timeout<&T::queue, &TA::queue>("queue", 1),
    timeout<&T::prepare, &TA::prepare>("prepare", 1),
    timeout<&T::start, &TA::start>("start", 1),
    timeout<&T::run, &TA::run>("run", 1),
    timeout<&T::idle, &TA::idle>("idle", 1, ZeroMeans::no_limit),
    timeout<&T::stop, &TA::stop>("stop", 0),  // 0: SIGKILL at once
    timeout<&T::total, &TA::total>("total", 1),
};

}  // namespace

std::span<const LimitQuantity> limit_quantities() {
  return kLimits;
}
std::span<const TimeoutQuantity> timeout_quantities() {
  return kTimeouts;
}

std::string format_quantity(QuantityUnit unit, std::uint64_t value) {
  switch (unit) {
    case QuantityUnit::bytes:
      return format_bytes(Bytes{value});
    case QuantityUnit::count:
      return std::to_string(value);
    case QuantityUnit::millicpus:
      return format_millicpus(static_cast<std::int64_t>(value));
    case QuantityUnit::duration:
      return format_duration(Millis(static_cast<std::int64_t>(value)));
  }
  return std::to_string(value);
}

}  // namespace mayfly

// From the pipes of the task's process into the spool: bytes as they are, both streams in turn, never more
// than the spool holds and the log may keep.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "channel/link.hpp"
#include "channel/messages.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {

// How much of the output is kept. Pure.
class LogQuota {
 public:
  explicit LogQuota(std::uint64_t most) : most_(most) {}  // 0: no limit
  // Of `n` more bytes, how many are kept.
  std::uint64_t admit(std::uint64_t n);
  // Something was dropped: nothing more will be kept.
  bool passed() const { return dropped_ > 0; }
  std::uint64_t kept() const { return kept_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::uint64_t most_, kept_ = 0, dropped_ = 0;
};

// What one message more must leave free, so that the end of a task always fits.
inline constexpr std::size_t kSpoolReserve = 4096;
inline constexpr std::size_t kSpoolReserveMessages = 8;

class OutputPump {
 public:
  OutputPump(UniqueFd out, UniqueFd err, std::uint64_t log_bytes);

  struct Progress {
    bool moved = false;    // bytes were read
    bool starved = false;  // bytes are waiting, and the spool has no room for them
    bool empty = false;    // nothing is waiting on any stream
  };
  // Reads each stream in turn, at most `rounds` times.
  Progress pump(channel::Link& link, int rounds);

  bool at_end() const { return !streams_[0].fd && !streams_[1].fd; }
  void close();
  const LogQuota& quota() const { return quota_; }
  std::uint64_t bytes_of(channel::OutStream stream) const;
  // For poll(2); -1 at the end of the stream.
  int out_fd() const { return streams_[0].fd.get(); }
  int err_fd() const { return streams_[1].fd.get(); }

 private:
  struct Stream {
    UniqueFd fd;
    channel::OutStream name;
    std::uint64_t offset = 0;
  };
  void pump_one(Stream& stream, channel::Link& link, Progress& progress);
  void keep(Stream& stream, channel::Link& link, std::size_t got);

  std::array<Stream, 2> streams_;
  LogQuota quota_;
  std::string buffer_;
};

}  // namespace mayfly::runner

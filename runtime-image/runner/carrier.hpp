// The runner's end of the carrier: non-blocking reads into a Link and writes out of it. End of file and a
// broken pipe mean only that one carrier is gone; another may come over the same descriptors, so both are
// tried again later.
#pragma once

#include <cstdint>
#include <string>

#include "channel/link.hpp"
#include "harden.hpp"

namespace mayfly::runner {

class Carrier {
 public:
  explicit Carrier(CarrierFds fds);

  // Whether anything was read.
  bool read_into(channel::Link& link, std::int64_t now);
  // Writes until nothing is left or the carrier takes no more. True when nothing is left.
  bool write_from(channel::Link& link, std::int64_t now);

  // For poll(2): the descriptor, or -1 while there is nothing to wait for.
  int read_fd(std::int64_t now) const { return now >= read_again_at_ ? fds_.in.get() : -1; }
  int write_fd() const { return is_blocked_ ? fds_.out.get() : -1; }
  void may_write_again() { is_blocked_ = false; }
  bool is_blocked() const { return is_blocked_; }
  // When to try again what was given up.
  std::int64_t wake_at(std::int64_t now, bool has_output) const;

 private:
  bool full(std::int64_t now);  // the carrier takes no more just now: false, for write_from

  static constexpr std::int64_t kTryAgainMs = 500;
  CarrierFds fds_;
  std::string buffer_;
  std::size_t half_written_ = 0;  // bytes that the link has made and the carrier has not taken
  bool is_big_;
  bool moved_ = false;  // since it was full last
  bool is_blocked_ = false;
  std::int64_t read_again_at_ = 0, write_again_at_ = 0;
};

}  // namespace mayfly::runner

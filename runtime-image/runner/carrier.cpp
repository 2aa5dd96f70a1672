#include "carrier.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace mayfly::runner {
namespace {

constexpr std::size_t kReadBytes = 64U << 10U;
constexpr int kReadsAtOnce = 4;
constexpr int kWritesAtOnce = 4;
constexpr std::size_t kMostOutput = 256U << 10U;
// A pipe is writable again when its reader has taken one page. Of one that holds this much, the reader takes
// longer than a millisecond to drain, and the writer that sleeps meanwhile is not woken for every page.
constexpr int kBigPipe = 512 * 1024;
constexpr std::int64_t kGatherMs = 1;

}  // namespace

Carrier::Carrier(CarrierFds fds)
    : fds_(std::move(fds)),
      buffer_(kReadBytes, '\0'),
      is_big_(::fcntl(fds_.out.get(), F_GETPIPE_SZ) >= kBigPipe) {}

bool Carrier::read_into(channel::Link& link, std::int64_t now) {
  bool any = false;
  for (int i = 0; i < kReadsAtOnce && now >= read_again_at_; ++i) {
    const ssize_t got = ::read(fds_.in.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      read_again_at_ = now + kTryAgainMs;
      break;
    }
    any = true;
    link.feed(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) < buffer_.size()) break;
  }
  return any;
}

bool Carrier::write_from(channel::Link& link, std::int64_t now) {
  for (int i = 0; i < kWritesAtOnce; ++i) {
    if (is_blocked_ || now < write_again_at_) return false;
    // New lines are made only when the last ones are written, so that the link's buffer is emptied again and
    // again.
    const std::string_view bytes = link.output(half_written_ > 0 ? 1 : kMostOutput);
    half_written_ = bytes.size();
    if (bytes.empty()) return true;
    const ssize_t written = ::write(fds_.out.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (errno == EAGAIN) return full(now);
      write_again_at_ = now + kTryAgainMs;
      return false;
    }
    moved_ = true;
    half_written_ -= static_cast<std::size_t>(written);
    link.wrote(static_cast<std::size_t>(written));
    if (half_written_ > 0) return full(now);
  }
  return !link.has_output();
}

bool Carrier::full(std::int64_t now) {
  // One that takes nothing at all is waited for in poll(2).
  if (is_big_ && std::exchange(moved_, false)) {
    write_again_at_ = now + kGatherMs;
  } else {
    is_blocked_ = true;
  }
  return false;
}

std::int64_t Carrier::wake_at(std::int64_t now, bool has_output) const {
  std::int64_t wake = std::numeric_limits<std::int64_t>::max();
  if (read_again_at_ > now) wake = read_again_at_;
  if (has_output && !is_blocked_) wake = std::min(wake, std::max(now, write_again_at_));
  return wake;
}

}  // namespace mayfly::runner

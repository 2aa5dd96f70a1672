#include "output_pump.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace mayfly::runner {
namespace {

bool has_bytes(int fd) {
  pollfd asked{fd, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

}  // namespace

std::uint64_t LogQuota::admit(std::uint64_t n) {
  const std::uint64_t kept = most_ == 0 ? n : std::min(n, most_ - kept_);
  kept_ += kept;
  dropped_ += n - kept;
  return kept;
}

OutputPump::OutputPump(UniqueFd out, UniqueFd err, std::uint64_t log_bytes)
    : streams_{Stream{std::move(out), channel::OutStream::out},
               Stream{std::move(err), channel::OutStream::err}},
      quota_(log_bytes),
      buffer_(channel::kMaxPayloadBytes, '\0') {}

OutputPump::Progress OutputPump::pump(channel::Link& link, int rounds) {
  Progress all;
  for (int round = 0; round < rounds; ++round) {
    Progress now;
    for (Stream& stream : streams_) pump_one(stream, link, now);
    all.moved = all.moved || now.moved;
    all.starved = now.starved;
    all.empty = !now.moved && !now.starved;
    if (!now.moved) break;
  }
  return all;
}

void OutputPump::pump_one(Stream& stream, channel::Link& link, Progress& progress) {
  if (!stream.fd) return;
  const bool may_read =
      quota_.passed() || link.outbox().has_room(buffer_.size(), kSpoolReserve, kSpoolReserveMessages);
  if (!may_read) {
    progress.starved = progress.starved || has_bytes(stream.fd.get());
    return;
  }
  const ssize_t got = ::read(stream.fd.get(), buffer_.data(), buffer_.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    stream.fd.reset();
    return;
  }
  progress.moved = true;
  keep(stream, link, static_cast<std::size_t>(got));
}

void OutputPump::keep(Stream& stream, channel::Link& link, std::size_t got) {
  const std::size_t kept = quota_.admit(got);
  if (kept == 0) return;
  const channel::Out message{.stream = stream.name, .offset = stream.offset};
  link.send_numbered(channel::kOut, message.members(), std::string_view(buffer_).substr(0, kept));
  stream.offset += kept;
}

void OutputPump::close() {
  for (Stream& stream : streams_) stream.fd.reset();
}

std::uint64_t OutputPump::bytes_of(channel::OutStream stream) const {
  return streams_[stream == channel::OutStream::out ? 0 : 1].offset;
}

}  // namespace mayfly::runner

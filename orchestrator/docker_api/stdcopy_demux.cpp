#include "docker_api/stdcopy_demux.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mayfly::docker {

namespace {

std::uint32_t big_endian(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::uint32_t>(byte);
  return value;
}

}  // namespace

Result<StdcopyDemux::Step> StdcopyDemux::next(std::span<const std::byte> input, std::size_t most,
                                              std::optional<OutputStream> only) {
  Step step;
  while (frame_left_ == 0) {
    const auto missing = input.subspan(step.consumed);
    const std::size_t taken = std::min(missing.size(), header_.size() - header_filled_);
    std::copy_n(missing.begin(), taken, header_.begin() + static_cast<std::ptrdiff_t>(header_filled_));
    header_filled_ += taken;
    step.consumed += taken;
    if (header_filled_ < header_.size()) return step;
    if (auto opened = open_frame(); !opened) return fail_with(std::move(opened));
  }
  step.stream = stream_;
  if (only && *only != stream_) return step;
  const auto rest = input.subspan(step.consumed);
  step.payload = rest.first(std::min({rest.size(), most, static_cast<std::size_t>(frame_left_)}));
  step.consumed += step.payload.size();
  frame_left_ -= static_cast<std::uint32_t>(step.payload.size());
  return step;
}

Result<void> StdcopyDemux::finish() const {
  if (header_filled_ == 0 && frame_left_ == 0) return {};
  return fail(ErrorCode::protocol, frame_left_ > 0 ? "the engine's stream ended inside a frame"
                                                   : "the engine's stream ended inside a frame header");
}

Result<void> StdcopyDemux::open_frame() {
  const auto type = std::to_integer<unsigned>(header_[0]);
  const bool padding_is_zero = std::all_of(header_.begin() + 1, header_.begin() + 4,
                                           [](std::byte byte) { return byte == std::byte{0}; });
  if (type > 2 || !padding_is_zero)
    return fail(ErrorCode::protocol, fmt::format("the engine's stream has a frame of unknown type {}", type));
  const std::uint32_t length = big_endian(std::span(header_).last<4>());
  if (length > kMostFrame)
    return fail(ErrorCode::protocol, fmt::format("the engine's stream has a frame of {} bytes", length));
  // Type 0 is stdin echoed back; Docker's own reader (stdcopy) hands it out as stdout.
  stream_ = type == 2 ? OutputStream::err : OutputStream::out;
  frame_left_ = length;
  header_filled_ = 0;
  return {};
}

}  // namespace mayfly::docker

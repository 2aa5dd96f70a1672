// Takes apart the engine's multiplexed stream (Docker API, "Attach to a container", stream format). A state
// machine without I/O: the attach stream feeds it whatever arrived. One owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.hpp"

namespace mayfly::docker {

enum class OutputStream { out, err };

class StdcopyDemux {
 public:
  // An engine sends at most 32 KiB a frame. A longer one than this means that the bytes are no frames.
  static constexpr std::uint32_t kMostFrame = 16U << 20U;

  struct Step {
    std::size_t consumed = 0;            // of the input, from its begin
    std::span<const std::byte> payload;  // lies inside the consumed input; empty: more input is needed
    OutputStream stream = OutputStream::out;
  };
  // The next payload of one stream, at most `most` bytes long; with `only`, none of another stream. protocol
  // for a stream type other than 0, 1 and 2, for header bytes that must be zero and are not, and for a frame
  // over kMostFrame; every later call fails too.
  Result<Step> next(std::span<const std::byte> input, std::size_t most,
                    std::optional<OutputStream> only = std::nullopt);
  // The input has ended: protocol inside a header or a frame.
  Result<void> finish() const;

 private:
  Result<void> open_frame();

  std::array<std::byte, 8> header_{};
  std::size_t header_filled_ = 0;
  std::uint32_t frame_left_ = 0;
  OutputStream stream_ = OutputStream::out;
};

}  // namespace mayfly::docker

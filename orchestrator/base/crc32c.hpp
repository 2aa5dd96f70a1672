// CRC-32C (Castagnoli, RFC 3720 appendix B.4), for channel records and log segments. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mayfly {

// Continues from `crc` (0 to begin). Uses the processor's instruction where there is one (x86-64 SSE4.2).
std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc = 0);

// The same by tables, whatever the processor can do: what `crc32c` falls back to, and what tests compare it
// with.
std::uint32_t crc32c_by_tables(std::span<const std::byte> data, std::uint32_t crc = 0);

}  // namespace mayfly

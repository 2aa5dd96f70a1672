// The bytes of a log segment on disk (docs/log-format.md). Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "log_store/log_store.hpp"

namespace mayfly::segment {

inline constexpr std::size_t kFileHeaderBytes = 16;
inline constexpr std::size_t kRecordHeaderBytes = 40;
inline constexpr std::size_t kMaxDataBytes = 1U << 20U;

using FileHeader = std::array<std::byte, kFileHeaderBytes>;
using RecordHeaderBytes = std::array<std::byte, kRecordHeaderBytes>;

FileHeader encode_file_header(std::uint32_t attempt);
// corrupt when it is not the head of this attempt's segment in a version that we know.
Result<> check_file_header(std::span<const std::byte> bytes, std::uint32_t attempt);

struct RecordHeader {
  std::uint32_t data_crc = 0;
  std::uint32_t length = 0;  // of the data
  LogKind kind = LogKind::out;
  std::uint64_t number = 0;
  WallTime at{};
  std::uint64_t offset = 0;
};

// With the checksums of header and data.
RecordHeaderBytes encode_record_header(const LogRecord& record);
// Nothing when it was never written so: the header's own checksum tells a damaged length from a record whose
// end is not there. `bytes` holds kRecordHeaderBytes or more.
std::optional<RecordHeader> find_record_header(std::span<const std::byte> bytes);
bool data_matches(const RecordHeader& header, std::span<const std::byte> data);

// The end of each stream within one attempt: where its next byte would stand.
struct StreamEnds {
  std::uint64_t out = 0, err = 0;
  bool holes = false;  // bytes before an end are missing: the segment was damaged, and its writer went on
  void take(LogKind kind, std::uint64_t offset, std::uint64_t size);
  friend StreamEnds operator+(StreamEnds a, StreamEnds b) {
    return {a.out + b.out, a.err + b.err, a.holes || b.holes};
  }
  // The same positions; a reader that began in the middle has not seen every hole.
  friend bool operator==(StreamEnds a, StreamEnds b) { return a.out == b.out && a.err == b.err; }
};

}  // namespace mayfly::segment

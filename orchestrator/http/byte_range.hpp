// Range requests of one range of bytes (RFC 9110 section 14). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::http {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t length = 0;
};

enum class RangeOutcome {
  ignored,        // no Range, another unit, several ranges, or malformed: the whole content with 200
  satisfiable,    // 206
  unsatisfiable,  // 416
};

struct RangeDecision {
  RangeOutcome outcome = RangeOutcome::ignored;
  ByteRange range;
};

RangeDecision decide_range(std::string_view range_header, std::uint64_t size);
// "bytes 0-9/100"; a size that is still growing is "*".
std::string content_range(const ByteRange& range, std::optional<std::uint64_t> size);

}  // namespace mayfly::http

// A record of the channel: one line of bytes on the wire (docs/channel.md). Pure; any thread.
//
//   JSON object [NUL, payload in COBS with newline as the removed byte] CRC-32C as 8 hex digits, newline
//
// JSON never holds a raw NUL or newline and neither does the encoded payload hold a newline, so a newline is
// always a real border and bytes of a task can never form a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace mayfly::channel {

inline constexpr std::size_t kMaxRecordBytes = 64U << 10U;   // with its newline
inline constexpr std::size_t kMaxPayloadBytes = 48U << 10U;  // before COBS
inline constexpr std::size_t kMaxHeadBytes = 12U << 10U;

// Appends one whole line to `wire`. `head` is the JSON text. Both within their bounds, else std::logic_error
// (a bug).
void append_record(std::string& wire, std::string_view head, std::string_view payload);

struct Record {
  Json head;            // an object
  std::string payload;  // decoded; empty when there was none
};

// `line` without its newline. protocol when the CRC, COBS, JSON or a bound is wrong.
Result<Record> parse_record(std::string_view line);

// Cuts a byte stream into lines; a line over kMaxRecordBytes is dropped as a whole. Keeps what was fed until
// next() has returned it, and at most one partial line.
class LineSplitter {
 public:
  void feed(std::string_view bytes);
  // The next whole line without its newline, valid until the next call of feed or next. Empty lines are
  // skipped.
  std::optional<std::string_view> next();
  std::size_t unread() const { return buffer_.size() - begin_; }
  void clear();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;     // of what next() has not yet returned
  std::size_t searched_ = 0;  // no newline before this
  bool dropping_ = false;
};

}  // namespace mayfly::channel

// Walks a log segment from record to record with bounded memory. Blocking; on the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/file.hpp"
#include "log_store/segment_format.hpp"

namespace mayfly::segment {

// A piece of a file in memory that moves along with its reader.
class FileWindow {
 public:
  // Reads at least `read_ahead` bytes at a time, as far as the file goes.
  FileWindow(int fd, std::size_t read_ahead) : fd_(fd), read_ahead_(read_ahead) {}
  void set_read_ahead(std::size_t bytes) { read_ahead_ = bytes; }
  // `size` bytes from `position`, fewer at the end of the file. Valid until the next call.
  Result<std::span<const std::byte>> at(std::uint64_t position, std::size_t size);

 private:
  Result<> fill(std::uint64_t position, std::size_t size);

  int fd_;
  std::size_t read_ahead_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::uint64_t start_ = 0;
  std::size_t filled_ = 0;
};

enum class Found {
  record,
  end,      // exactly between two records
  torn,     // a record begins here, and its end is not there (yet)
  damaged,  // what stands here was never written so
};

// Whether the data is read and its checksum compared, or stepped over.
enum class Depth { whole, header };

struct Step {
  Found found = Found::end;
  RecordHeader header{};
  std::span<const std::byte> data{};  // with Depth::whole; valid until the window moves
  std::uint64_t next = 0;             // where the record behind it begins
};

// What stands at `position`, when the file counts up to `limit`.
Result<Step> read_step(FileWindow& window, std::uint64_t position, std::uint64_t limit, Depth depth);

struct SegmentScan {
  std::uint64_t length = 0;  // up to here all is good
  std::uint64_t file_size = 0;
  std::uint64_t last_number = 0;
  StreamEnds ends{};
  Found tail = Found::end;  // what stands at `length`: never `record`
};

// From the head to the first place where there is no good record. A file too short for its own header has
// length 0 and is torn. corrupt when the header is not this attempt's.
Result<SegmentScan> scan_segment(int fd, std::uint32_t attempt, Depth depth);

Result<std::uint64_t> size_of_file(int fd);

}  // namespace mayfly::segment

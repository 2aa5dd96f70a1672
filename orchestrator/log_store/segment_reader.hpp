// Reads a task's segments one after the other, and follows. Made by SegmentLogStore.
#pragma once

#include <memory>
#include <optional>

#include "async/blocking_pool.hpp"
#include "log_store/live_log.hpp"
#include "log_store/log_directory.hpp"
#include "log_store/segment_file.hpp"

namespace mayfly {

// Where a reader stands. Blocking; touched by one pool thread at a time.
class SegmentCursor {
 public:
  struct Position {
    LogStream wanted = LogStream::both;
    std::uint64_t out_from = 0, err_from = 0;  // over all attempts
  };
  enum class Stand {
    moved,     // there may be more at once
    at_end,    // nothing more for now
    complete,  // nothing more for ever
  };
  struct Batch {
    std::vector<LogRecord> records;
    Stand stand = Stand::moved;
  };

  SegmentCursor(LogDirectory directory, Position from) : directory_(std::move(directory)), from_(from) {}
  // Reads on, at most about `max_bytes` of data and kMostScanned bytes of file. `tail` is how far the segment
  // that is being written counts. Errors: corrupt (what stood before was returned by earlier calls), gone,
  // io.
  Result<Batch> read(std::size_t max_bytes, const std::optional<LiveTail>& tail);

 private:
  Result<Stand> read_segment(std::size_t max_bytes, const std::optional<LiveTail>& tail, Batch& batch);
  Result<> check_complete() const;
  Result<> open_attempt(std::uint32_t attempt);
  Result<> pass_file_header(segment::FileWindow& window);
  Result<segment::Step> next_step(segment::FileWindow& window, std::uint64_t end) const;
  Result<Stand> damaged(const Batch& batch) const;
  Result<std::uint64_t> limit(const std::optional<LiveTail>& tail) const;
  std::size_t read_ahead(std::uint64_t end) const;
  bool delivers(const segment::RecordHeader& header) const;
  LogRecord to_record(const segment::Step& step) const;

  LogDirectory directory_;
  Position from_;
  FileDescriptor file_;
  std::uint32_t attempt_ = 0;      // of the open file
  std::uint64_t position_ = 0;     // in the open file
  segment::StreamEnds earlier_{};  // of the attempts before it
  segment::StreamEnds ends_{};     // of what was passed in it
};

class SegmentLogReader final : public LogReader {
 public:
  SegmentLogReader(BlockingPool& pool, std::shared_ptr<SegmentCursor> cursor, std::shared_ptr<LiveLog> live)
      : pool_(pool), cursor_(std::move(cursor)), live_(std::move(live)) {}
  Async<std::vector<LogRecord>> next(std::size_t max_bytes, Deadline deadline) override;

 private:
  BlockingPool& pool_;
  std::shared_ptr<SegmentCursor> cursor_;
  std::shared_ptr<LiveLog> live_;
};

}  // namespace mayfly

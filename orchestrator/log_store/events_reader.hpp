// Reads what stands in one attempt's segment, of every kind, without the bytes of the output: a new process
// learns from it what the runner has said. Made by SegmentLogStore.
#pragma once

#include <memory>
#include <optional>

#include "async/blocking_pool.hpp"
#include "log_store/log_directory.hpp"
#include "log_store/segment_file.hpp"

namespace mayfly {

// Blocking; touched by one pool thread at a time.
class EventsCursor {
 public:
  // Up to `limit` bytes of the file, or to its end as it is now. not_found when there is no such segment.
  static Result<std::shared_ptr<EventsCursor>> open(const LogDirectory& directory, std::uint32_t attempt,
                                                    std::optional<std::uint64_t> limit);
  // Empty at the end; corrupt where the segment is damaged, after what stands before it was returned.
  Result<std::vector<LogRecord>> read(std::size_t max_bytes);

 private:
  EventsCursor(FileDescriptor file, std::filesystem::path path, std::uint64_t limit)
      : file_(std::move(file)), path_(std::move(path)), limit_(limit) {}
  Result<segment::Step> next_step(segment::FileWindow& window) const;

  FileDescriptor file_;
  std::filesystem::path path_;
  std::uint64_t limit_;
  std::uint64_t position_ = segment::kFileHeaderBytes;
};

class EventsReader final : public LogReader {
 public:
  EventsReader(BlockingPool& pool, std::shared_ptr<EventsCursor> cursor)
      : pool_(pool), cursor_(std::move(cursor)) {}
  Async<std::vector<LogRecord>> next(std::size_t max_bytes, Deadline deadline) override;

 private:
  BlockingPool& pool_;
  std::shared_ptr<EventsCursor> cursor_;
};

}  // namespace mayfly

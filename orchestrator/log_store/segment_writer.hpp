// Appends to one attempt's segment. Made by SegmentLogStore.
#pragma once

#include <atomic>
#include <memory>

#include "async/blocking_pool.hpp"
#include "base/log.hpp"
#include "log_store/live_log.hpp"
#include "log_store/log_directory.hpp"
#include "log_store/segment_file.hpp"

namespace mayfly {

// The open file. Blocking; touched by one pool thread at a time, but for sync.
class SegmentFile {
 public:
  // Makes the segment or finds its end; what a killed process left half-written behind it is cut away. Where
  // whole records were damaged a gap record takes the place of what was cut.
  static Result<std::shared_ptr<SegmentFile>> open(const LogDirectory& directory, std::uint32_t attempt,
                                                   WallTime now, Logger& log);

  Result<> append(const std::vector<LogRecord>& records, LogDurability durability);
  Result<> sync();
  std::uint64_t length() const { return length_; }
  std::uint64_t last_number() const { return last_number_; }
  segment::StreamEnds ends() const { return ends_; }

 private:
  SegmentFile(FileDescriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Result<> recover(std::uint32_t attempt, WallTime now, Logger& log);
  Result<> begin(std::uint32_t attempt);
  Result<> write_at_end(const std::vector<LogRecord>& records);
  Result<> cut_tail();

  FileDescriptor file_;
  std::filesystem::path path_;
  std::uint64_t length_ = 0;  // good up to here
  std::uint64_t last_number_ = 0;
  segment::StreamEnds ends_{};
  bool tail_to_cut_ = false;               // a failed append left bytes that could not be cut at once
  std::atomic<bool> name_synced_ = false;  // sync may run beside an append
};

class SegmentLogWriter final : public LogWriter {
 public:
  // `earlier` are the ends of the attempts before this one; `total` counts the store's bytes.
  SegmentLogWriter(BlockingPool& pool, std::shared_ptr<SegmentFile> file, std::uint32_t attempt,
                   segment::StreamEnds earlier, std::shared_ptr<LiveLog> live,
                   std::shared_ptr<std::atomic<std::uint64_t>> total);
  ~SegmentLogWriter() override { close(); }

  std::uint64_t last_number() const override { return last_number_; }
  Async<> append(std::vector<LogRecord> records, LogDurability durability) override;
  Async<> sync() override;
  void close() override;

 private:
  void publish();

  BlockingPool& pool_;
  std::shared_ptr<SegmentFile> file_;
  std::uint32_t attempt_;
  segment::StreamEnds earlier_;
  std::shared_ptr<LiveLog> live_;
  std::shared_ptr<std::atomic<std::uint64_t>> total_;
  std::uint64_t last_number_;
  bool appending_ = false;
};

}  // namespace mayfly

#include "log_store/segment_log_store.hpp"

#include <atomic>
#include <limits>
#include <utility>

#include "log_store/events_reader.hpp"
#include "log_store/live_log.hpp"
#include "log_store/log_directory.hpp"
#include "log_store/segment_reader.hpp"
#include "log_store/segment_writer.hpp"

namespace mayfly {
namespace {

using segment::StreamEnds;
using ByteCount = std::shared_ptr<std::atomic<std::uint64_t>>;

constexpr std::uint32_t kAllAttempts = std::numeric_limits<std::uint32_t>::max();

LogSize make_size(const StreamEnds& ends, bool complete) {
  return {.out = ends.out, .err = ends.err, .complete = complete, .holes = ends.holes};
}

struct OpenedSegment {
  std::shared_ptr<SegmentFile> file;
  StreamEnds earlier{};
};

Result<OpenedSegment> open_segment(const LogDirectory& directory, std::uint32_t attempt, WallTime now,
                                   Logger& log, std::atomic<std::uint64_t>& total) {
  if (directory.is_sealed()) return fail(ErrorCode::conflict, "the log is complete: nothing may be appended");
  std::error_code absent;
  const auto size = std::filesystem::file_size(directory.segment(attempt), absent);
  auto file = SegmentFile::open(directory, attempt, now, log);
  if (!file) return fail_with(file);
  total += (*file)->length() -
           (absent ? 0 : size);  // negative when a tail was cut: the sum wraps around and is right
  const auto earlier = directory.measure(attempt);
  if (!earlier) return fail_with(earlier);
  return OpenedSegment{.file = std::move(*file), .earlier = *earlier};
}

Result<LogSize> measure(const LogDirectory& directory) {
  const auto sealed = directory.find_seal();
  if (!sealed) return fail_with(sealed);
  if (*sealed) return make_size(**sealed, true);
  if (!directory.exists()) return fail(ErrorCode::not_found, "no log of this task");
  const auto ends = directory.measure(kAllAttempts);
  if (!ends) return fail_with(ends);
  return make_size(*ends, false);
}

// Gives the place of the task's one writer back, unless the writer was made.
class WritingPlace {
 public:
  explicit WritingPlace(std::shared_ptr<LiveLog> live) : live_(std::move(live)) { live_->writing = true; }
  ~WritingPlace() {
    if (live_) live_->writing = false;
  }
  WritingPlace(const WritingPlace&) = delete;
  WritingPlace& operator=(const WritingPlace&) = delete;
  std::shared_ptr<LiveLog> keep() { return std::exchange(live_, nullptr); }

 private:
  std::shared_ptr<LiveLog> live_;
};

class SegmentLogStore final : public LogStore {
 public:
  SegmentLogStore(std::filesystem::path root, asio::any_io_executor executor, BlockingPool& pool,
                  const Clock& clock, Logger& log, Bytes total)
      : root_(std::move(root)),
        pool_(pool),
        clock_(clock),
        log_(log),
        live_(std::move(executor)),
        total_(std::make_shared<std::atomic<std::uint64_t>>(total.count)) {}

  Async<std::unique_ptr<LogWriter>> open_writer(TaskId task, std::uint32_t attempt) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    auto live = live_.get(task);
    if (live->writing)
      co_return fail(ErrorCode::conflict, "the log of " + task.str() + " is open for writing");
    WritingPlace place(live);
    auto work = [directory = *directory, attempt, now = clock_.wall(), &log = log_, total = total_] {
      return open_segment(directory, attempt, now, log, *total);
    };
    auto opened = co_await pool_.run(std::move(work));
    if (!opened) co_return fail_with(opened);
    co_return std::make_unique<SegmentLogWriter>(pool_, std::move(opened->file), attempt, opened->earlier,
                                                 place.keep(), total_);
  }

  Async<> seal(TaskId task) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    auto live = live_.get(task);
    if (live->writing)
      co_return fail(ErrorCode::conflict, "the log of " + task.str() + " is open for writing");
    auto work = [directory = *directory, total = total_]() -> Result<> {
      if (directory.is_sealed()) return {};
      const auto grown = directory.seal();
      if (!grown) return fail_with(grown);
      *total += static_cast<std::uint64_t>(*grown);
      return {};
    };
    auto done = co_await pool_.run(std::move(work));
    live->touch();
    co_return done;
  }

  Async<std::unique_ptr<LogReader>> open_reader(TaskId task, LogStream stream, std::uint64_t out_from,
                                                std::uint64_t err_from) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    auto live = live_.get(task);
    auto work = [directory = *directory]() -> Result<> {
      if (!directory.exists()) return fail(ErrorCode::not_found, "no log of this task");
      return {};
    };
    if (auto there = co_await pool_.run(std::move(work)); !there) co_return fail_with(there);
    const SegmentCursor::Position from{.wanted = stream, .out_from = out_from, .err_from = err_from};
    auto cursor = std::make_shared<SegmentCursor>(std::move(*directory), from);
    co_return std::make_unique<SegmentLogReader>(pool_, std::move(cursor), std::move(live));
  }

  Async<std::unique_ptr<LogReader>> open_events(TaskId task, std::uint32_t attempt) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    const auto live = live_.find(task);
    const bool writing = live && live->tail && live->tail->attempt == attempt;
    const auto limit = writing ? std::optional(live->tail->length) : std::nullopt;
    auto work = [directory = std::move(*directory), attempt, limit] {
      return EventsCursor::open(directory, attempt, limit);
    };
    auto cursor = co_await pool_.run(std::move(work));
    if (!cursor) co_return fail_with(cursor);
    co_return std::make_unique<EventsReader>(pool_, std::move(*cursor));
  }

  Async<LogSize> size(TaskId task) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    if (const auto live = live_.find(task); live && live->tail) {
      co_return make_size(live->tail->ends, false);
    }
    auto work = [directory = std::move(*directory)] { return measure(directory); };
    co_return co_await pool_.run(std::move(work));
  }

  Async<> remove(TaskId task) override {
    auto directory = LogDirectory::of(root_, task);
    if (!directory) co_return fail_with(directory);
    auto live = live_.get(task);
    if (live->writing)
      co_return fail(ErrorCode::conflict, "the log of " + task.str() + " is open for writing");
    auto work = [directory = std::move(*directory), total = total_]() -> Result<> {
      const auto removed = directory.remove();
      if (!removed) return fail_with(removed);
      *total -= removed->count;
      return {};
    };
    auto done = co_await pool_.run(std::move(work));
    live->touch();
    co_return done;
  }

  Async<Bytes> total_size() override { co_return Bytes{total_->load()}; }

 private:
  std::filesystem::path root_;
  BlockingPool& pool_;
  const Clock& clock_;
  Logger& log_;
  LiveLogs live_;
  ByteCount total_;
};

}  // namespace

Result<std::unique_ptr<LogStore>> open_segment_log_store(const std::filesystem::path& data_dir,
                                                         asio::any_io_executor executor, BlockingPool& pool,
                                                         const Clock& clock, Logger& log) {
  auto root = data_dir / "logs";
  if (auto made = make_private_directory(root); !made) return fail_with(made);
  const auto total = size_of_tree(root);
  if (!total) return fail_with(total);
  return std::make_unique<SegmentLogStore>(std::move(root), std::move(executor), pool, clock, log, *total);
}

}  // namespace mayfly

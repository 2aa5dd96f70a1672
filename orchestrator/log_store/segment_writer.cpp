#include "log_store/segment_writer.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json.hpp"

namespace mayfly {
namespace {

using segment::Found;

constexpr std::size_t kRecordsPerWrite = 512;  // two pieces each; IOV_MAX is 1024

// Header and data of some records as they lie in memory, and what of it is not written yet.
class Pieces {
 public:
  explicit Pieces(std::span<const LogRecord> records) {
    headers_.reserve(records.size());
    pieces_.reserve(2 * records.size());
    for (const LogRecord& record : records) {
      headers_.push_back(segment::encode_record_header(record));
      add(headers_.back().data(), headers_.back().size());
      add(record.data.data(), record.data.size());
    }
  }
  std::uint64_t size() const { return size_; }

  Result<> write(int fd, std::uint64_t position) {
    std::size_t first = 0;
    while (first < pieces_.size()) {
      const auto count = static_cast<int>(pieces_.size() - first);
      const ssize_t written = pwritev(fd, &pieces_[first], count, static_cast<off_t>(position));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno("append to a log segment", errno);
      position += static_cast<std::uint64_t>(written);
      first = skip(first, static_cast<std::size_t>(written));
    }
    return {};
  }

 private:
  void add(const void* data, std::size_t size) {
    if (size == 0) return;
    pieces_.push_back({.iov_base = const_cast<void*>(data), .iov_len = size});
    size_ += size;
  }
  std::size_t skip(std::size_t first, std::size_t written) {
    while (first < pieces_.size() && written >= pieces_[first].iov_len) written -= pieces_[first++].iov_len;
    if (written > 0) {
      pieces_[first].iov_base = static_cast<char*>(pieces_[first].iov_base) + written;
      pieces_[first].iov_len -= written;
    }
    return first;
  }

  std::vector<segment::RecordHeaderBytes> headers_;
  std::vector<iovec> pieces_;
  std::uint64_t size_ = 0;
};

Result<> check_sizes(const std::vector<LogRecord>& records) {
  for (const LogRecord& record : records) {
    if (record.data.size() > segment::kMaxDataBytes) {
      return fail(ErrorCode::invalid_argument, "a log record of " + std::to_string(record.data.size()) +
                                                   " bytes: at most " +
                                                   std::to_string(segment::kMaxDataBytes));
    }
  }
  return {};
}

class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag) { flag_ = true; }
  ~Busy() { flag_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& flag_;
};

LogRecord make_damage_gap(std::uint64_t cut_bytes, WallTime now) {
  const Json words = {{"reason", "log_damaged"}, {"cut_bytes", cut_bytes}};
  return {.number = 0, .kind = LogKind::gap, .at = now, .offset = 0, .data = dump_json(words)};
}

}  // namespace

Result<std::shared_ptr<SegmentFile>> SegmentFile::open(const LogDirectory& directory, std::uint32_t attempt,
                                                       WallTime now, Logger& log) {
  if (auto made = make_private_directory(directory.path()); !made) return fail_with(made);
  const auto path = directory.segment(attempt);
  auto file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return fail_with(file);
  std::shared_ptr<SegmentFile> opened(new SegmentFile(std::move(*file), path));
  if (auto recovered = opened->recover(attempt, now, log); !recovered) return fail_with(recovered);
  return opened;
}

Result<> SegmentFile::recover(std::uint32_t attempt, WallTime now, Logger& log) {
  const auto scan = segment::scan_segment(file_.get(), attempt, segment::Depth::whole);
  if (!scan) {
    auto error = scan.error();
    return fail(error.code, path_.string() + ": " + error.message);
  }
  length_ = scan->length;
  last_number_ = scan->last_number;
  ends_ = scan->ends;
  const std::uint64_t cut = scan->file_size - scan->length;
  if (cut > 0) {
    log.warn("log_store",
             scan->tail == Found::torn ? "cut a torn record from a log" : "cut a damaged part from a log",
             {{"file", path_.string()},
              {"kept_bytes", std::to_string(length_)},
              {"cut_bytes", std::to_string(cut)}});
    if (auto done = cut_tail(); !done) return done;
  }
  if (length_ == 0) return begin(attempt);
  if (scan->tail != Found::damaged) return {};
  const std::vector<LogRecord> gap{make_damage_gap(cut, now)};
  return append(gap, LogDurability::page_cache);
}

Result<> SegmentFile::begin(std::uint32_t attempt) {
  const auto header = segment::encode_file_header(attempt);
  if (lseek(file_.get(), 0, SEEK_SET) != 0) return fail_errno("seek in " + path_.string(), errno);
  if (auto written = write_all(file_.get(), header); !written) return written;
  length_ = header.size();
  return {};
}

Result<> SegmentFile::append(const std::vector<LogRecord>& records, LogDurability durability) {
  if (tail_to_cut_) {
    if (auto cut = cut_tail(); !cut) return cut;
  }
  const std::uint64_t before = length_;
  auto done = write_at_end(records);
  if (done && durability == LogDurability::disk) done = sync();
  if (!done) {
    length_ = before;
    // Truncating takes no space, so this works on a full disk as well; if not, the next append tries again.
    if (auto cut = cut_tail(); !cut) tail_to_cut_ = true;
    return done;
  }
  for (const LogRecord& record : records) {
    last_number_ = std::max(last_number_, record.number);
    ends_.take(record.kind, record.offset, record.data.size());
  }
  return {};
}

Result<> SegmentFile::write_at_end(const std::vector<LogRecord>& records) {
  for (std::span<const LogRecord> rest(records); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kRecordsPerWrite));
    Pieces pieces(some);
    if (auto written = pieces.write(file_.get(), length_); !written) return written;
    length_ += pieces.size();
    rest = rest.subspan(some.size());
  }
  return {};
}

Result<> SegmentFile::cut_tail() {
  if (ftruncate(file_.get(), static_cast<off_t>(length_)) != 0) {
    return fail_errno("cut the tail of " + path_.string(), errno);
  }
  tail_to_cut_ = false;
  return {};
}

Result<> SegmentFile::sync() {
  if (fdatasync(file_.get()) != 0) return fail_errno("sync " + path_.string(), errno);
  if (name_synced_) return {};
  if (auto synced = sync_directory(path_.parent_path()); !synced) return synced;
  name_synced_ = true;
  return {};
}

SegmentLogWriter::SegmentLogWriter(BlockingPool& pool, std::shared_ptr<SegmentFile> file,
                                   std::uint32_t attempt, segment::StreamEnds earlier,
                                   std::shared_ptr<LiveLog> live,
                                   std::shared_ptr<std::atomic<std::uint64_t>> total)
    : pool_(pool),
      file_(std::move(file)),
      attempt_(attempt),
      earlier_(earlier),
      live_(std::move(live)),
      total_(std::move(total)),
      last_number_(file_->last_number()) {
  publish();
}

Async<> SegmentLogWriter::append(std::vector<LogRecord> records, LogDurability durability) {
  if (!file_) co_return fail(ErrorCode::conflict, "the log writer is closed");
  if (appending_) co_return fail(ErrorCode::internal, "two appends at once to one log writer");
  if (auto fit = check_sizes(records); !fit) co_return fit;
  // A record that the runner sent again; number 0 is our own.
  std::erase_if(records, [last = last_number_](const LogRecord& record) mutable {
    if (record.number == 0) return false;
    if (record.number <= last) return true;
    last = record.number;
    return false;
  });
  auto work = [file = file_, records = std::move(records), durability, total = total_]() -> Result<> {
    if (records.empty()) return durability == LogDurability::disk ? file->sync() : Result<>{};
    const std::uint64_t before = file->length();
    auto done = file->append(records, durability);
    *total += file->length() - before;
    return done;
  };
  const Busy busy(appending_);
  auto done = co_await pool_.run(std::move(work));
  if (done && file_) publish();
  co_return done;
}

Async<> SegmentLogWriter::sync() {
  if (!file_) co_return fail(ErrorCode::conflict, "the log writer is closed");
  auto work = [file = file_] { return file->sync(); };
  co_return co_await pool_.run(std::move(work));
}

void SegmentLogWriter::publish() {
  last_number_ = file_->last_number();
  live_->tail = LiveTail{.attempt = attempt_, .length = file_->length(), .ends = earlier_ + file_->ends()};
  live_->touch();
}

void SegmentLogWriter::close() {
  if (!file_) return;
  file_.reset();
  live_->tail.reset();
  live_->writing = false;
  live_->touch();
}

}  // namespace mayfly

#include "log_store/segment_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mayfly::segment {
namespace {

constexpr std::size_t kScanWhole = 256U << 10U;
constexpr std::size_t kScanHeaders = 16U
                                     << 10U;  // many small records a read, little in vain between big ones

}  // namespace

Result<std::span<const std::byte>> FileWindow::at(std::uint64_t position, std::size_t size) {
  const bool inside = position >= start_ && position + size <= start_ + filled_;
  if (!inside) {
    if (auto done = fill(position, std::max(size, read_ahead_)); !done) return fail_with(done);
  }
  const std::size_t from = position - start_;
  return std::span<const std::byte>(buffer_.get() + from, std::min(size, filled_ - from));
}

Result<> FileWindow::fill(std::uint64_t position, std::size_t size) {
  if (size > capacity_) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(size);
    capacity_ = size;
  }
  start_ = position;
  filled_ = 0;
  while (filled_ < size) {
    const auto at = static_cast<off_t>(position + filled_);
    const ssize_t count = pread(fd_, buffer_.get() + filled_, size - filled_, at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("read a log segment", errno);
    if (count == 0) break;
    filled_ += static_cast<std::size_t>(count);
  }
  return {};
}

Result<Step> read_step(FileWindow& window, std::uint64_t position, std::uint64_t limit, Depth depth) {
  if (position >= limit) return Step{.found = Found::end};
  const auto head = window.at(position, kRecordHeaderBytes);
  if (!head) return fail_with(head);
  if (limit - position < kRecordHeaderBytes || head->size() < kRecordHeaderBytes)
    return Step{.found = Found::torn};
  const auto header = find_record_header(*head);
  if (!header) return Step{.found = Found::damaged};
  const std::size_t size = kRecordHeaderBytes + header->length;
  if (limit - position < size) return Step{.found = Found::torn};
  Step step{.found = Found::record, .header = *header, .next = position + size};
  if (depth == Depth::header) return step;
  const auto record = window.at(position, size);
  if (!record) return fail_with(record);
  if (record->size() < size) return Step{.found = Found::torn};
  step.data = record->subspan(kRecordHeaderBytes);
  if (!data_matches(*header, step.data)) return Step{.found = Found::damaged};
  return step;
}

Result<SegmentScan> scan_segment(int fd, std::uint32_t attempt, Depth depth) {
  const auto size = size_of_file(fd);
  if (!size) return fail_with(size);
  SegmentScan scan{.file_size = *size};
  if (*size < kFileHeaderBytes) {
    scan.tail = Found::torn;
    return scan;
  }
  FileWindow window(fd, depth == Depth::whole ? kScanWhole : kScanHeaders);
  const auto head = window.at(0, kFileHeaderBytes);
  if (!head) return fail_with(head);
  if (auto ours = check_file_header(*head, attempt); !ours) return fail_with(ours);
  scan.length = kFileHeaderBytes;
  for (;;) {
    const auto step = read_step(window, scan.length, *size, depth);
    if (!step) return fail_with(step);
    scan.tail = step->found;
    if (step->found != Found::record) return scan;
    scan.length = step->next;
    scan.last_number = std::max(scan.last_number, step->header.number);
    scan.ends.take(step->header.kind, step->header.offset, step->header.length);
  }
}

Result<std::uint64_t> size_of_file(int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return fail_errno("stat a log segment", errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace mayfly::segment

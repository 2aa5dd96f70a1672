#include "log_store/segment_reader.hpp"

#include <algorithm>

namespace mayfly {
namespace {

using segment::Depth;
using segment::Found;

constexpr std::uint64_t kMostScanned = 8U << 20U;  // a pool thread is not held longer by one reader
constexpr std::size_t kReadAhead = 256U << 10U;

}  // namespace

// The order of the looks decides: what is sealed, and which attempts there are, is asked before the end of
// the segment is seen, so that nothing can slip in between.
Result<SegmentCursor::Batch> SegmentCursor::read(std::size_t max_bytes, const std::optional<LiveTail>& tail) {
  Batch batch;
  const bool sealed = directory_.is_sealed();
  const auto attempts = directory_.attempts();
  if (!attempts) return fail_with(attempts);
  const auto next = std::ranges::upper_bound(*attempts, attempt_);
  if (file_) {
    auto stand = read_segment(max_bytes, tail, batch);
    if (!stand) return fail_with(stand);
    batch.stand = *stand;
  } else {
    batch.stand = Stand::at_end;
  }
  if (batch.stand != Stand::at_end || !batch.records.empty()) return batch;
  if (next != attempts->end()) {
    if (auto opened = open_attempt(*next); !opened) return fail_with(opened);
    batch.stand = Stand::moved;
  } else if (sealed) {
    if (auto whole = check_complete(); !whole) return fail_with(whole);
    batch.stand = Stand::complete;
  } else if (!directory_.exists()) {
    return fail(ErrorCode::gone, "the log was removed");
  }
  return batch;
}

// What a sealed log held when it was sealed stands in its marker.
Result<> SegmentCursor::check_complete() const {
  const auto sealed = directory_.find_seal();
  if (!sealed) return fail_with(sealed);
  if (!*sealed || **sealed == earlier_ + ends_) return {};
  return fail(ErrorCode::corrupt,
              "the log in " + directory_.path().string() + " is shorter than it was once");
}

Result<> SegmentCursor::open_attempt(std::uint32_t attempt) {
  auto file = directory_.open_segment(attempt);
  if (!file) return fail_with(file);
  file_ = std::move(*file);
  attempt_ = attempt;
  position_ = 0;
  earlier_ = earlier_ + ends_;
  ends_ = {};
  return {};
}

Result<SegmentCursor::Stand> SegmentCursor::read_segment(std::size_t max_bytes,
                                                         const std::optional<LiveTail>& tail, Batch& batch) {
  const auto end = limit(tail);
  if (!end) return fail_with(end);
  segment::FileWindow window(file_.get(), read_ahead(*end));
  if (position_ == 0) {
    if (*end < segment::kFileHeaderBytes) return Stand::at_end;
    if (auto passed = pass_file_header(window); !passed) return fail_with(passed);
  }
  const std::uint64_t start = position_;
  for (std::size_t bytes = 0; bytes < max_bytes && position_ - start < kMostScanned;) {
    const auto step = next_step(window, *end);
    if (!step) return fail_with(step);
    if (step->found == Found::end || step->found == Found::torn) return Stand::at_end;
    if (step->found == Found::damaged) return damaged(batch);
    if (delivers(step->header)) {
      if (!batch.records.empty() && bytes + step->data.size() > max_bytes) return Stand::moved;
      batch.records.push_back(to_record(*step));
      bytes += step->data.size();
    }
    ends_.take(step->header.kind, step->header.offset, step->header.length);
    position_ = step->next;
  }
  return Stand::moved;
}

// What stood before the damage is handed over first; the next call comes here again and fails.
Result<SegmentCursor::Stand> SegmentCursor::damaged(const Batch& batch) const {
  if (!batch.records.empty()) return Stand::moved;
  return fail(ErrorCode::corrupt, "the log is damaged: " + directory_.segment(attempt_).string() +
                                      " at byte " + std::to_string(position_) +
                                      "; what stands before it was delivered");
}

Result<std::uint64_t> SegmentCursor::limit(const std::optional<LiveTail>& tail) const {
  if (tail && tail->attempt == attempt_) return tail->length;
  return segment::size_of_file(file_.get());
}

// Not more than there is: a follower reads a few bytes at a time.
std::size_t SegmentCursor::read_ahead(std::uint64_t end) const {
  const std::uint64_t left = end > position_ ? end - position_ : 0;
  const std::size_t least = segment::kRecordHeaderBytes;
  return std::clamp<std::uint64_t>(left, least, kReadAhead);
}

Result<> SegmentCursor::pass_file_header(segment::FileWindow& window) {
  const auto head = window.at(0, segment::kFileHeaderBytes);
  if (!head) return fail_with(head);
  if (auto ours = segment::check_file_header(*head, attempt_); !ours) return ours;
  position_ = segment::kFileHeaderBytes;
  return {};
}

// The data of a record that is not delivered is not read.
Result<segment::Step> SegmentCursor::next_step(segment::FileWindow& window, std::uint64_t end) const {
  auto step = segment::read_step(window, position_, end, Depth::header);
  if (!step || step->found != Found::record || !delivers(step->header)) return step;
  return segment::read_step(window, position_, end, Depth::whole);
}

bool SegmentCursor::delivers(const segment::RecordHeader& header) const {
  const bool wants_out = from_.wanted != LogStream::err;
  const bool wants_err = from_.wanted != LogStream::out;
  const auto passed = earlier_ + ends_;
  switch (header.kind) {
    case LogKind::out:
      return wants_out && earlier_.out + header.offset + header.length > from_.out_from;
    case LogKind::err:
      return wants_err && earlier_.err + header.offset + header.length > from_.err_from;
    case LogKind::event:
      return false;
    case LogKind::truncated:
    case LogKind::gap:
      return (!wants_out || passed.out >= from_.out_from) && (!wants_err || passed.err >= from_.err_from);
  }
  return false;
}

// Positions count over all attempts; the first record may begin before the position that was asked for.
LogRecord SegmentCursor::to_record(const segment::Step& step) const {
  const auto& header = step.header;
  LogRecord record{
      .number = header.number, .kind = header.kind, .at = header.at, .offset = header.offset, .data = {}};
  std::size_t skip = 0;
  if (header.kind == LogKind::out || header.kind == LogKind::err) {
    const bool is_out = header.kind == LogKind::out;
    const std::uint64_t start = (is_out ? earlier_.out : earlier_.err) + header.offset;
    const std::uint64_t from = is_out ? from_.out_from : from_.err_from;
    skip = from > start ? from - start : 0;
    record.offset = start + skip;
  }
  const auto data = step.data.subspan(skip);
  record.data.assign(reinterpret_cast<const char*>(data.data()), data.size());
  return record;
}

Async<std::vector<LogRecord>> SegmentLogReader::next(std::size_t max_bytes, Deadline deadline) {
  for (;;) {
    const std::uint64_t seen = live_->version;
    auto work = [cursor = cursor_, max_bytes, tail = live_->tail] { return cursor->read(max_bytes, tail); };
    auto batch = co_await pool_.run(std::move(work));
    if (!batch) co_return fail_with(batch);
    const bool complete = batch->stand == SegmentCursor::Stand::complete;
    if (complete || !batch->records.empty()) co_return std::move(batch->records);
    if (batch->stand == SegmentCursor::Stand::moved || live_->version != seen) continue;
    if (deadline.passed()) co_return fail(ErrorCode::deadline_exceeded, "no new output before the deadline");
    co_await live_->changed.wait(deadline);
  }
}

}  // namespace mayfly

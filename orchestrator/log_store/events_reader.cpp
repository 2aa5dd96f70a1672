#include "log_store/events_reader.hpp"

namespace mayfly {
namespace {

using segment::Depth;
using segment::Found;

constexpr std::size_t kReadAhead = 16U << 10U;

bool is_output(LogKind kind) {
  return kind == LogKind::out || kind == LogKind::err;
}

LogRecord to_record(const segment::Step& step) {
  const auto& header = step.header;
  return {.number = header.number,
          .kind = header.kind,
          .at = header.at,
          .offset = header.offset,
          .data = std::string(reinterpret_cast<const char*>(step.data.data()), step.data.size())};
}

}  // namespace

Result<std::shared_ptr<EventsCursor>> EventsCursor::open(const LogDirectory& directory, std::uint32_t attempt,
                                                         std::optional<std::uint64_t> limit) {
  auto file = directory.open_segment(attempt);
  if (!file) return fail_with(file);
  const auto size = segment::size_of_file(file->get());
  if (!size) return fail_with(size);
  if (*size >= segment::kFileHeaderBytes) {
    segment::FileWindow window(file->get(), segment::kFileHeaderBytes);
    const auto head = window.at(0, segment::kFileHeaderBytes);
    if (!head) return fail_with(head);
    if (auto ours = segment::check_file_header(*head, attempt); !ours) return fail_with(ours);
  }
  return std::shared_ptr<EventsCursor>(
      new EventsCursor(std::move(*file), directory.segment(attempt), limit.value_or(*size)));
}

Result<std::vector<LogRecord>> EventsCursor::read(std::size_t max_bytes) {
  std::vector<LogRecord> records;
  segment::FileWindow window(file_.get(), kReadAhead);
  for (std::size_t bytes = 0; bytes < max_bytes;) {
    const auto step = next_step(window);
    if (!step) return fail_with(step);
    if (step->found == Found::damaged && records.empty()) {
      return fail(ErrorCode::corrupt, path_.string() + " is damaged at byte " + std::to_string(position_));
    }
    if (step->found != Found::record) break;
    records.push_back(to_record(*step));
    position_ = step->next;
    bytes += sizeof(LogRecord) + step->data.size();
  }
  return records;
}

Result<segment::Step> EventsCursor::next_step(segment::FileWindow& window) const {
  auto step = segment::read_step(window, position_, limit_, Depth::header);
  if (!step || step->found != Found::record || is_output(step->header.kind)) return step;
  return segment::read_step(window, position_, limit_, Depth::whole);
}

Async<std::vector<LogRecord>> EventsReader::next(std::size_t max_bytes, Deadline) {
  auto work = [cursor = cursor_, max_bytes] { return cursor->read(max_bytes); };
  co_return co_await pool_.run(std::move(work));
}

}  // namespace mayfly

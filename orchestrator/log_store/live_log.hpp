// What the writer, the readers and the store of one task's log tell each other. On the I/O thread only.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "async/notifier.hpp"
#include "log_store/segment_format.hpp"

namespace mayfly {

// How far the open segment is good: a reader never looks behind it, where a write may be under way.
struct LiveTail {
  std::uint32_t attempt = 0;
  std::uint64_t length = 0;
  segment::StreamEnds ends{};  // over this and all earlier attempts
};

class LiveLog {
 public:
  explicit LiveLog(const asio::any_io_executor& executor) : changed(executor) {}
  // Something was appended, opened, sealed or removed.
  void touch() {
    ++version;
    changed.notify();
  }

  Notifier changed;
  std::uint64_t version = 0;
  bool writing = false;          // a writer has it, or is being opened
  std::optional<LiveTail> tail;  // of the open writer
};

// One LiveLog a task, for as long as somebody holds it.
class LiveLogs {
 public:
  explicit LiveLogs(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  std::shared_ptr<LiveLog> get(const TaskId& task);
  std::shared_ptr<LiveLog> find(const TaskId& task) const;

 private:
  using Map = std::unordered_map<TaskId, std::weak_ptr<LiveLog>>;
  asio::any_io_executor executor_;
  std::shared_ptr<Map> logs_ = std::make_shared<Map>();
};

}  // namespace mayfly

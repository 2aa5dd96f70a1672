// A task's output as append-only segments on disk: self-describing records, each with the number that the
// runner gave it, so that the resume position is read from the log itself. One writer (the attempt's
// coroutine); any number of readers of the API, who never slow the writer. All calls from the I/O thread;
// disk work runs on the blocking pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "async/task_types.hpp"
#include "base/bytes.hpp"
#include "base/ids.hpp"

namespace mayfly {

enum class LogKind : std::uint8_t {
  out = 1,        // bytes of stdout
  err = 2,        // bytes of stderr
  event = 3,      // a runner message (JSON), kept so that the segment holds every numbered message
  truncated = 4,  // JSON {"stream": …, "dropped_bytes": …}: the log limit was reached
  gap = 5,        // JSON {"reason": …}: bytes may be missing here (engine, host or runner died)
};

struct LogRecord {
  std::uint64_t number = 0;  // the runner's message number; 0 for records that we wrote ourselves (gap)
  LogKind kind = LogKind::out;
  WallTime at{};             // when it was received
  std::uint64_t offset = 0;  // for out and err: position of the first byte within its stream
  std::string data;
};

enum class LogDurability { page_cache, disk };

// Appends. Owned by one attempt.
class LogWriter {
 public:
  virtual ~LogWriter() = default;
  // The number of the last whole record that stands in the segment (0: none): what the runner is told at
  // attach.
  virtual std::uint64_t last_number() const = 0;
  // Writes the records in order with write(2) (and one fdatasync for `disk`). Records whose number is not
  // above last_number are dropped; those with number 0 (our own) are always written. On an error (disk_full,
  // io) nothing of this call counts as written and the torn tail is cut; the call may be repeated.
  virtual Async<> append(std::vector<LogRecord> records, LogDurability durability) = 0;
  // fdatasync of the segment and its directory.
  virtual Async<> sync() = 0;
  virtual void close() = 0;  // idempotent
};

enum class LogStream { out, err, both };

struct LogSize {
  std::uint64_t out = 0, err = 0;  // bytes, as the task counts them
  bool complete = false;           // the writer sealed it: nothing more will come
  bool holes = false;  // not all of the bytes are there: a damaged part was cut out (a gap record says so)
};

// Reads records from a position, and follows.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // The next records of the wanted streams (at most about `max_bytes` of data, at least one record); an empty
  // vector when the log is complete and was read to its end. Without records and not complete it waits until
  // there are some or the deadline passes (then deadline_exceeded, and it can be called again).
  virtual Async<std::vector<LogRecord>> next(std::size_t max_bytes, Deadline deadline) = 0;
};

class LogStore {
 public:
  virtual ~LogStore() = default;
  // Opens or makes the segment for appending; a torn last record is cut away. conflict when it is open for
  // writing.
  virtual Async<std::unique_ptr<LogWriter>> open_writer(TaskId task, std::uint32_t attempt) = 0;
  // Marks the task's log as complete (durable) and wakes followers. Idempotent.
  virtual Async<> seal(TaskId task) = 0;
  // A reader over all attempts in order, from byte `out_from`/`err_from` of each stream. not_found when there
  // is no log.
  virtual Async<std::unique_ptr<LogReader>> open_reader(TaskId task, LogStream stream, std::uint64_t out_from,
                                                        std::uint64_t err_from) = 0;
  // A reader over every record of one attempt that stands in its segment now, of all kinds, output without
  // its bytes (`data` empty for out and err): what a new process learns from. It never waits; empty at the
  // end. not_found when there is none.
  virtual Async<std::unique_ptr<LogReader>> open_events(TaskId task, std::uint32_t attempt) = 0;
  virtual Async<LogSize> size(TaskId task) = 0;
  // Removes everything of the task. Idempotent.
  virtual Async<> remove(TaskId task) = 0;
  // Bytes on disk in all, for retention and metrics.
  virtual Async<Bytes> total_size() = 0;
};

}  // namespace mayfly

// A log store in a directory of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "log_store/segment_log_store.hpp"
#include "support/io_loop.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

constexpr std::size_t kPiece = 48 * 1024;

inline LogRecord make_record(std::uint64_t number, LogKind kind, std::uint64_t offset, std::string data) {
  return {.number = number,
          .kind = kind,
          .at = WallTime(Millis(number)),
          .offset = offset,
          .data = std::move(data)};
}

// Numbers and offsets as the runner counts them within an attempt.
class Script {
 public:
  explicit Script(std::uint64_t number = 0) : number_(number) {}
  LogRecord out(std::string data) { return next(LogKind::out, out_, std::move(data)); }
  LogRecord err(std::string data) { return next(LogKind::err, err_, std::move(data)); }
  LogRecord event(std::string data) { return make_record(++number_, LogKind::event, 0, std::move(data)); }

 private:
  LogRecord next(LogKind kind, std::uint64_t& offset, std::string data) {
    auto record = make_record(++number_, kind, offset, std::move(data));
    offset += record.data.size();
    return record;
  }
  std::uint64_t number_, out_ = 0, err_ = 0;
};

class CountingLogger final : public Logger {
 public:
  void write(LogLevel level, std::string_view, std::string_view, std::initializer_list<Field>) override {
    warnings += level == LogLevel::warn ? 1 : 0;
  }
  int warnings = 0;
};

struct Streams {
  std::string out, err;
  std::vector<LogRecord> markers;
};

class LogFixture {
 public:
  explicit LogFixture(std::filesystem::path where = {})
      : data(where.empty() ? dir.path() : std::move(where)) {
    open();
  }
  void open() {
    auto opened = open_segment_log_store(data, loop.executor(), pool, clock, log);
    if (!opened) throw std::runtime_error(opened.error().message);
    logs = std::move(*opened);
  }
  template <class T>
  Result<T> await(Async<T> call) {
    return loop.await(std::move(call));
  }
  std::unique_ptr<LogWriter> writer(std::uint32_t attempt = 1) {
    auto opened = await(logs->open_writer(task, attempt));
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }
  Result<> append(LogWriter& to, std::vector<LogRecord> records) {
    return await(to.append(std::move(records), LogDurability::page_cache));
  }
  std::unique_ptr<LogReader> reader(LogStream stream = LogStream::both, std::uint64_t out_from = 0,
                                    std::uint64_t err_from = 0) {
    auto opened = await(logs->open_reader(task, stream, out_from, err_from));
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }
  // What can be read without waiting, in pieces of about `max_bytes`; each record's offset is checked to go
  // on exactly where the one before it ended.
  Streams read_all(LogReader& from, std::size_t max_bytes = 1U << 20U, std::uint64_t out_at = 0,
                   std::uint64_t err_at = 0) {
    Streams streams;
    for (;;) {
      auto records = await(from.next(max_bytes, Deadline::at(MonoTime{})));
      if (!records && records.error().code == ErrorCode::deadline_exceeded) return streams;
      if (!records) throw std::runtime_error(records.error().message);
      if (records->empty()) return streams;
      for (LogRecord& record : *records) take(streams, std::move(record), out_at, err_at);
    }
  }
  std::filesystem::path segment(std::uint32_t attempt = 1) const {
    const std::string id = task.str();
    return data / "logs" / id.substr(id.size() - 2) / id / (std::to_string(attempt) + ".log");
  }

  TempDir dir;
  std::filesystem::path data;
  ManualClock clock;
  CountingLogger log;
  IoLoop loop;
  BlockingPool pool{2};
  std::unique_ptr<LogStore> logs;
  TaskId task = make_id<TaskId>();

 private:
  static void take(Streams& streams, LogRecord record, std::uint64_t out_at, std::uint64_t err_at) {
    if (record.kind == LogKind::out) {
      if (record.offset != out_at + streams.out.size()) throw std::runtime_error("stdout does not go on");
      streams.out += record.data;
    } else if (record.kind == LogKind::err) {
      if (record.offset != err_at + streams.err.size()) throw std::runtime_error("stderr does not go on");
      streams.err += record.data;
    } else {
      streams.markers.push_back(std::move(record));
    }
  }
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

template <class T>
ErrorCode code_of(const Result<T>& result) {
  if (result) throw std::logic_error("an error was expected");
  return result.error().code;
}

}  // namespace mayfly::test

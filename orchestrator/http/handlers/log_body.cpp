#include "http/handlers/log_body.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "task/base64.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kBatchBytes = 64U << 10U;
constexpr Millis kStoredBytesWait{std::chrono::seconds(30)};  // for bytes that are known to be on disk

bool is_output(const LogRecord& record) {
  return record.kind == LogKind::out || record.kind == LogKind::err;
}

// {stream, offset, at, kind: "data", text | data_base64}: text where the record is UTF-8 by itself.
Json output_to_json(const LogRecord& record) {
  Json json = {{"kind", "data"},
               {"stream", record.kind == LogKind::out ? "stdout" : "stderr"},
               {"offset", record.offset},
               {"at", format_time(record.at)}};
  if (is_utf8(record.data)) {
    json["text"] = record.data;
  } else {
    json["data_base64"] = encode_base64(record.data);
  }
  return json;
}

// truncated and gap: what is missing, in the words of the record.
Json note_to_json(const LogRecord& record) {
  const auto detail = parse_json(record.data);
  return {{"kind", record.kind == LogKind::gap ? "gap" : "truncated"},
          {"at", format_time(record.at)},
          {"detail", detail ? *detail : Json::object()}};
}

std::string format_record(const LogRecord& record, LogFormat format) {
  if (format == LogFormat::raw) return is_output(record) ? record.data : std::string();
  if (record.kind == LogKind::event) return {};
  return dump_json(is_output(record) ? output_to_json(record) : note_to_json(record)) + '\n';
}

class LogBody final : public StreamingBody {
 public:
  LogBody(std::unique_ptr<LogReader> reader, LogFormat format, LogExtent extent, Millis heartbeat)
      : reader_(std::move(reader)),
        format_(format),
        extent_(extent),
        heartbeat_(heartbeat),
        left_(extent.bytes) {}

  Async<> write_to(BodyWriter& out) override {
    while (!is_done()) {
      auto records = co_await reader_->next(kBatchBytes, Deadline::in(patience()));
      if (records && records->empty()) break;
      const bool late = !records && records.error().code == ErrorCode::deadline_exceeded;
      if (late && !extent_.follow && extent_.holes) break;
      const bool quiet = late && extent_.follow;
      if (!records && !quiet) co_return fail_with(std::move(records));
      const std::string text = quiet ? heartbeat() : format_batch(*records);
      auto written = co_await out.write(text);
      if (!written) co_return written;
    }
    co_return Result<>{};
  }

 private:
  Millis patience() const {
    if (extent_.follow) return heartbeat_;
    return extent_.holes ? Millis(0) : kStoredBytesWait;
  }

  // A raw body stops at its length; NDJSON of a complete log goes on to the notes behind the last byte.
  bool is_done() const {
    const bool to_the_end = extent_.follow || (extent_.complete && format_ == LogFormat::ndjson);
    return !to_the_end && left_ == 0;
  }

  std::string heartbeat() const { return format_ == LogFormat::ndjson ? "\n" : ""; }

  std::string format_batch(std::vector<LogRecord>& records) {
    std::string text;
    for (LogRecord& record : records) {
      if (is_done()) break;
      if (!extent_.follow && is_output(record)) {
        record.data.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left_, record.data.size())));
        left_ -= record.data.size();
      }
      text += format_record(record, format_);
    }
    return text;
  }

  std::unique_ptr<LogReader> reader_;
  LogFormat format_;
  LogExtent extent_;
  Millis heartbeat_;
  std::uint64_t left_;  // bytes of output still to send, when it does not follow
};

}  // namespace

std::unique_ptr<StreamingBody> make_log_body(std::unique_ptr<LogReader> reader, LogFormat format,
                                             LogExtent extent, Millis heartbeat) {
  return std::make_unique<LogBody>(std::move(reader), format, extent, heartbeat);
}

}  // namespace mayfly::http

// A task's output as a streaming body: raw bytes, or NDJSON records with their streams and positions.
// Made by LogsHandler; memory is bounded by one batch of records, whatever the reader's speed.
#pragma once

#include <memory>
#include <string>

#include "http/http_types.hpp"
#include "log_store/log_store.hpp"

namespace mayfly::http {

enum class LogFormat { raw, ndjson };

// How much of the log to send.
struct LogExtent {
  bool follow = false;      // to the log's end, whenever that comes
  bool complete = false;    // nothing more will come: an NDJSON body then ends with the log's last record
  std::uint64_t bytes = 0;  // else: so many bytes of output, which are there already
  bool holes = false;       // or fewer, since some are lost
};

std::unique_ptr<StreamingBody> make_log_body(std::unique_ptr<LogReader> reader, LogFormat format,
                                             LogExtent extent, Millis heartbeat);

}  // namespace mayfly::http

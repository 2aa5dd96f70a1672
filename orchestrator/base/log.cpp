#include "base/log.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"

namespace mayfly {
namespace {

// PIPE_BUF: a write(2) up to this size never mixes with another thread's, nor another process's, in a pipe.
constexpr std::size_t kMostLineBytes = 4096;
constexpr std::size_t kMostValueBytes = 2048;
constexpr std::size_t kLeastValueBytes = 16;

using Fields = std::initializer_list<Logger::Field>;

// One entry of the log, and how many bytes of each text in it are shown.
struct Entry {
  std::string time;
  LogLevel level;
  std::string_view component;
  std::string_view message;
  Fields fields;
  std::size_t value_bytes = kMostValueBytes;

  std::string shown(std::string_view text) const {
    const std::string_view cut = cut_utf8(text, value_bytes);
    return std::string(cut) + (cut.size() < text.size() ? "…" : "");
  }
};

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

// Not one Json object, which would sort the keys: a reader of the raw log wants the time in front.
std::string json_line(const Entry& entry) {
  std::string line =
      "{\"time\":\"" + entry.time + "\",\"level\":\"" + std::string(level_name(entry.level)) + '"';
  const auto append = [&](std::string_view key, std::string_view value) {
    line += ',' + dump_json(Json(key)) + ':' + dump_json(Json(entry.shown(value)));
  };
  append("component", entry.component);
  append("msg", entry.message);
  for (const auto& [key, value] : entry.fields) append(key, value);
  return line + "}\n";
}

// A value stands bare when no reader can take it for two, or for another field.
std::string text_value(const std::string& value) {
  const bool bare = !value.empty() && value.find_first_of(" \"=\\") == std::string::npos;
  if (bare) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string text_line(const Entry& entry) {
  std::string line = entry.time + ' ' + std::string(level_name(entry.level));
  line.append(6 - level_name(entry.level).size(), ' ');
  line += escape_for_line(entry.component) + ": " + escape_for_line(entry.shown(entry.message));
  for (const auto& [key, value] : entry.fields) {
    line += ' ' + escape_for_line(key) + '=' + text_value(escape_for_line(entry.shown(value)));
  }
  return line + '\n';
}

std::string make_line(Entry entry, LogFormat format) {
  for (;; entry.value_bytes /= 2) {
    std::string line = format == LogFormat::json ? json_line(entry) : text_line(entry);
    if (line.size() <= kMostLineBytes || entry.value_bytes <= kLeastValueBytes) return line;
  }
}

}  // namespace

void FdLogger::write(LogLevel level, std::string_view component, std::string_view message, Fields fields) {
  if (level < least_) return;
  const int saved_errno = errno;  // a caller may log between a failed call and its errno
  const std::string line = make_line({.time = format_time(SystemClock().wall()),
                                      .level = level,
                                      .component = component,
                                      .message = message,
                                      .fields = fields},
                                     format_);
  while (::write(fd_, line.data(), line.size()) < 0 && errno == EINTR) {
  }
  errno = saved_errno;
}

}  // namespace mayfly

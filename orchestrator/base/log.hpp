// The program's own log: one JSON object a line on stderr (text when it is a terminal). Thread safe.
// Never a secret, never the content of a task; text from outside is escaped by the writer.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace mayfly {

enum class LogLevel { debug, info, warn, error };

class Logger {
 public:
  using Field = std::pair<std::string_view, std::string>;
  virtual ~Logger() = default;
  virtual void write(LogLevel level, std::string_view component, std::string_view message,
                     std::initializer_list<Field> fields) = 0;

  void debug(std::string_view component, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::debug, component, message, fields);
  }
  void info(std::string_view component, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::info, component, message, fields);
  }
  void warn(std::string_view component, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::warn, component, message, fields);
  }
  void error(std::string_view component, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::error, component, message, fields);
  }
};

enum class LogFormat { json, text };

// Writes lines to the descriptor, which it does not own; a full or broken pipe loses lines, never blocks a
// caller for longer than one write(2) (the program ignores SIGPIPE). A line is at most 4096 bytes, so that
// lines of several threads never mix: long values are cut, with … at their end.
class FdLogger final : public Logger {
 public:
  FdLogger(int fd, LogFormat format, LogLevel least) : fd_(fd), format_(format), least_(least) {}
  void write(LogLevel level, std::string_view component, std::string_view message,
             std::initializer_list<Field> fields) override;

 private:
  int fd_;
  LogFormat format_;
  LogLevel least_;
};

class NullLogger final : public Logger {
 public:
  void write(LogLevel, std::string_view, std::string_view, std::initializer_list<Field>) override {}
};

}  // namespace mayfly

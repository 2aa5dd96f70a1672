#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <span>
#include <thread>

#include "base/file.hpp"
#include "base/utf8.hpp"
#include "cli/client_commands.hpp"
#include "cli/exit_codes.hpp"
#include "task/base64.hpp"
#include "task/task_state.hpp"
#include "task/workspace_path.hpp"

namespace mayfly::cli {
namespace {

constexpr int kTries = 30;  // one a second, while the server is away
constexpr std::chrono::seconds kBetweenTries{1};

int refused(const Error& error) {
  print_error(error);
  return error.code == ErrorCode::unavailable ? kOrchestrator : kFailure;
}

std::string task_path(const std::string& id) {
  return "/v1/tasks/" + percent_encode(id);
}

// Lines of a streamed answer.
class Lines {
 public:
  template <class Take>
  bool feed(std::string_view bytes, Take take) {
    held_.append(bytes);
    std::size_t begin = 0;
    for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', begin)) {
      if (!take(std::string_view(held_).substr(begin, end - begin))) return false;
      begin = end + 1;
    }
    held_.erase(0, begin);
    return true;
  }
  void clear() { held_.clear(); }

 private:
  std::string held_;
};

// A log as it comes, with the place to resume from.
class LogPrinter {
 public:
  explicit LogPrinter(const LogOptions& options) : options_(options) {}

  std::string query() const {
    std::string text = "?stream=" + options_.stream + (options_.follow ? "&follow=true" : "");
    if (options_.stream != "stderr") text += "&stdout_from=" + std::to_string(seen_[0]);
    if (options_.stream != "stdout") text += "&stderr_from=" + std::to_string(seen_[1]);
    return text;
  }

  // Why it stopped taking, when it did.
  const Result<>& outcome() const { return failed_; }

  bool take_line(std::string_view line) {
    if (line.empty()) return true;  // heartbeat
    const auto record = parse_json(line, {.bytes = 16U << 20U, .depth = 16, .values = 10'000});
    if (!record || !record->is_object())
      return give_up(fail(ErrorCode::protocol, "the server sent a log record that cannot be read"));
    const std::string kind = record->value("kind", std::string());
    if (kind != "data") {
      say("log " + kind + ": " + dump_json(record->value("detail", Json::object())));
      return true;
    }
    const bool err = record->value("stream", std::string()) == "stderr";
    const auto bytes = record->contains("text") ? Result<std::string>((*record)["text"].get<std::string>())
                                                : decode_base64(record->value("data_base64", std::string()));
    if (!bytes) return give_up(fail_with(bytes));
    seen_[err ? 1 : 0] += bytes->size();
    return print(err ? STDERR_FILENO : STDOUT_FILENO, *bytes);
  }

 private:
  bool print(int fd, const std::string& bytes) {
    const std::string text = !options_.raw && isatty(fd) == 1 ? escape_for_terminal(bytes) : bytes;
    auto written = write_all(fd, std::as_bytes(std::span(text.data(), text.size())));
    return written || give_up(std::move(written));
  }

  bool give_up(Result<> why) {
    failed_ = std::move(why);
    return false;
  }

  const LogOptions& options_;
  std::uint64_t seen_[2] = {0, 0};
  Result<> failed_;
};

Result<> fetch_artifact(ApiClient& api, const std::string& id, const std::string& path, int fd) {
  std::string url = task_path(id) + "/artifacts";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    url += "/" + percent_encode(std::string_view(path).substr(begin, end - begin));
    begin = end + 1;
  }
  Result<> written;
  const auto take = [&](std::string_view piece) {
    written = write_all(fd, std::as_bytes(std::span(piece.data(), piece.size())));
    return written.has_value();
  };
  auto streamed = api.stream({.method = "GET", .path = url}, take);
  return streamed ? written : streamed;
}

Result<> save_artifact(ApiClient& api, const std::string& id, const std::string& path,
                       const std::filesystem::path& directory) {
  auto safe = check_workspace_path(path);
  if (!safe) return safe;
  const std::filesystem::path to = directory / path;
  std::error_code failed;
  std::filesystem::create_directories(to.parent_path(), failed);
  if (failed)
    return fail(ErrorCode::io, "cannot make " + to.parent_path().string() + ": " + failed.message());
  auto file = open_file(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  if (!file) return fail_with(std::move(file));
  return fetch_artifact(api, id, path, file->get());
}

// The file's name as bytes: `path` is its text for people, `href` holds every byte.
std::string name_in(const Json& item) {
  constexpr std::string_view kBorder = "/artifacts/";
  const std::string href = item.value("href", std::string());
  const std::size_t at = href.find(kBorder);
  return at == std::string::npos ? item.value("path", std::string())
                                 : percent_decode(std::string_view(href).substr(at + kBorder.size()));
}

}  // namespace

int show_logs(ApiClient& api, const std::string& id, const LogOptions& options) {
  LogPrinter printer(options);
  Lines lines;
  for (int tries = 0;; ++tries) {
    lines.clear();
    bool moved = false;
    const auto take = [&](std::string_view bytes) {
      moved = true;
      return lines.feed(bytes, [&](std::string_view line) { return printer.take_line(line); });
    };
    ApiRequest request{.method = "GET", .path = task_path(id) + "/logs" + printer.query()};
    request.headers = {"Accept: application/x-ndjson"};
    auto streamed = api.stream(request, take);
    if (!printer.outcome()) return refused(printer.outcome().error());
    if (streamed) return kOk;
    if (moved) tries = 0;
    if (streamed.error().code != ErrorCode::unavailable || !options.follow || tries >= kTries)
      return refused(streamed.error());
    std::this_thread::sleep_for(kBetweenTries);
  }
}

int wait_for_end(ApiClient& api, const std::string& id) {
  for (int tries = 0;; ++tries) {
    Lines lines;
    // The stream's own end says that the task is over and its sandbox gone; its verdict is read from the
    // task.
    const auto take = [&](std::string_view bytes) {
      return lines.feed(bytes, [](std::string_view) { return true; });
    };
    ApiRequest request{.method = "GET", .path = task_path(id) + "/events"};
    request.headers = {"Accept: application/x-ndjson"};
    auto streamed = api.stream(request, take);
    auto task = api.json({.method = "GET", .path = task_path(id)});
    if (task &&
        is_terminal(find_task_state(task->value("state", std::string())).value_or(TaskState::queued))) {
      return exit_code_of(*task);
    }
    const Error error = task ? (streamed ? Error{} : streamed.error()) : task.error();
    if (!task && error.code != ErrorCode::unavailable) return refused(error);
    if (tries >= kTries) return refused(error);
    std::this_thread::sleep_for(kBetweenTries);
  }
}

int show_artifacts(ApiClient& api, const std::string& id, const ArtifactOptions& options, Output output) {
  if (!options.path.empty() && !options.directory) {
    auto fetched = fetch_artifact(api, id, options.path, STDOUT_FILENO);
    return fetched ? kOk : refused(fetched.error());
  }
  auto listed = api.json({.method = "GET", .path = task_path(id) + "/artifacts"});
  if (!listed) return refused(listed.error());
  const Json items = listed->value("items", Json::array());
  std::size_t saved_files = 0;
  if (options.directory) {
    for (const Json& item : items) {
      const std::string path = name_in(item);
      if (!options.path.empty() && path != options.path && item.value("path", std::string()) != options.path)
        continue;
      auto saved = save_artifact(api, id, path, *options.directory);
      if (!saved) return refused(saved.error());
      ++saved_files;
    }
    if (!options.path.empty() && saved_files == 0) {
      return refused(
          Error{.code = ErrorCode::not_found, .message = "the task has no result file " + options.path});
    }
  }
  if (output == Output::json) {
    print_json(items);
    return kOk;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& item : items) {
    rows.push_back({item.value("path", std::string()), std::to_string(item.value("size", std::uint64_t{0})),
                    item.value("sha256", std::string())});
  }
  print_table({"PATH", "BYTES", "SHA-256"}, rows);
  return kOk;
}

}  // namespace mayfly::cli

#include "lifecycle/collect.hpp"

#include <algorithm>

#include "task/workspace_path.hpp"

namespace mayfly {
namespace {

constexpr Millis kAnswer = std::chrono::seconds(30);
constexpr Millis kCarrier = std::chrono::seconds(10);
constexpr int kCarriers = 5;  // new carriers for one question before the results are given up
constexpr std::uint32_t kPage = 128;

// Asks over whatever carrier there is, and opens a new one when it was lost.
Async<channel::Incoming> ask(Attempt& attempt, std::string_view method, std::string members) {
  for (int carrier = 0;; ++carrier) {
    auto answer = co_await attempt.conversation.request(std::string(method), members, Deadline::in(kAnswer));
    const bool lost = !answer && answer.error().code == ErrorCode::engine_unreachable;
    if (!lost || carrier == kCarriers) co_return answer;
    const Deadline deadline = Deadline::in(kCarrier);
    auto opened = co_await open_carrier(attempt, deadline);
    while (opened && !attempt.conversation.connected() && attempt.carriers.running() > 0 &&
           !deadline.passed()) {
      co_await attempt.task.wake().wait(deadline);
    }
  }
}

Async<channel::FilesPage> list(Attempt& attempt, const std::string& after) {
  const channel::FilesList question{
      .patterns = attempt.task.record().spec.outputs, .after = after, .limit = kPage};
  auto answer = co_await ask(attempt, channel::kFilesList, question.members());
  if (!answer) co_return fail_with(std::move(answer));
  co_return channel::parse_files_page(answer->body);
}

// Reads to the end that the runner names: a file that grows meanwhile is bounded by the writer's own limit.
Async<> pull(Attempt& attempt, ArtifactWriter& writer, channel::FileEntry file) {
  auto begun = co_await writer.begin_file(file.path, file.mode);
  if (!begun) co_return begun;
  for (std::uint64_t offset = 0;;) {
    const channel::FilesRead question{
        .path = file.path, .offset = offset, .length = static_cast<std::uint32_t>(channel::kMaxPayloadBytes)};
    auto answer = co_await ask(attempt, channel::kFilesRead, question.members());
    if (!answer) co_return fail_with(std::move(answer));
    auto chunk = channel::parse_file_chunk(answer->body);
    if (!chunk) co_return fail_with(std::move(chunk));
    offset += answer->payload.size();
    const bool last = chunk->end || answer->payload.empty();
    auto appended = co_await writer.append(std::move(answer->payload));
    if (!appended) co_return appended;
    if (last) break;
  }
  auto finished = co_await writer.finish_file();
  if (!finished) co_return fail_with(std::move(finished));
  co_return Result<>{};
}

// What matched and is no result; the first few by name.
class Named {
 public:
  void add(std::string text) {
    ++count_;
    if (names_.size() < kMostNamed) names_.push_back(std::move(text));
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::vector<std::string>& names() const { return names_; }
  std::string text() const {
    std::string all;
    for (const std::string& name : names_) all += (all.empty() ? "" : ", ") + name;
    if (count_ > names_.size()) all += " and " + std::to_string(count_ - names_.size()) + " more";
    return all;
  }

 private:
  static constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
};

struct NoResults {
  Named unreadable;  // with the reason
  Named skipped;     // links, fifos, sockets, devices
};

Async<> pull_all(Attempt& attempt, ArtifactWriter& writer, NoResults& notes) {
  std::string after;
  for (bool more = true; more;) {
    auto page = co_await list(attempt, after);
    if (!page) co_return fail_with(std::move(page));
    for (std::string& path : page->skipped) notes.skipped.add(std::move(path));
    for (channel::FileEntry& file : page->files) {
      if (!check_workspace_path(file.path) || file.path <= after) {
        co_return fail(ErrorCode::protocol, "the runner named a file that cannot be a result");
      }
      after = file.path;
      auto pulled = co_await pull(attempt, writer, std::move(file));
      if (!pulled) {
        (void)co_await writer.abandon_file();
        // A file that vanished or stopped being a regular one between list and read is not a result, and one
        // that the runner may not read (the task's own mode bits, perhaps) keeps nothing from the others.
        if (pulled.error().code == ErrorCode::unprocessable)
          notes.unreadable.add(after + " (" + pulled.error().message + ")");
        else if (pulled.error().code != ErrorCode::not_found)
          co_return pulled;
      }
    }
    more = page->more && !page->files.empty();
  }
  co_return Result<>{};
}

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*?[\\") != std::string_view::npos;
}

std::vector<std::string> find_missing(const TaskSpec& spec, const std::vector<Artifact>& artifacts) {
  std::vector<std::string> missing;
  for (const std::string& pattern : spec.outputs) {
    const bool found = std::ranges::any_of(artifacts, [&](const Artifact& a) { return a.path == pattern; });
    if (!has_wildcard(pattern) && !found) missing.push_back(pattern);
  }
  return missing;
}

asio::awaitable<void> tell_skipped(LiveTask& task, const Named& skipped) {
  std::vector<NewEvent> events;
  events.push_back(
      {.type = "task.outputs_skipped", .data = Json{{"paths", skipped.names()}, {"count", skipped.count()}}});
  auto nothing = [](TaskRecord&, AttemptRecord&) {};
  co_await task.update(make_change(nothing, std::move(events)));
}

// A result over the policy's bounds is the task's doing; all else is ours or the engine's.
void note_problem(Collected& collected, const std::string& what, const Error& error) {
  collected.problem = what + ": " + error.message;
  const bool too_much = error.code == ErrorCode::payload_too_large;
  collected.reason = too_much ? Reason::output_missing : failure_of(error, Phase::collect).reason;
}

}  // namespace

asio::awaitable<Collected> collect(Attempt& attempt) {
  Collected collected;
  const TaskRecord& task = attempt.task.record();
  if (task.spec.outputs.empty()) co_return collected;
  if (!attempt.conversation.connected()) {
    // Taken over from a process that had collected already, and the runner is gone: those are the results.
    auto standing = co_await attempt.services.artifacts.list(task.id);
    if (standing) {
      collected.artifacts = std::move(*standing);
      collected.missing = find_missing(task.spec, collected.artifacts);
      co_return collected;
    }
  }
  const ArtifactBounds bounds{.files = attempt.policy->artifact_files,
                              .bytes = attempt.policy->artifact_bytes};
  auto writer = co_await attempt.services.artifacts.begin(task.id, attempt.task.attempt().number, bounds);
  if (!writer) {
    note_problem(collected, "the results could not be kept", writer.error());
    co_return collected;
  }
  NoResults notes;
  auto pulled = co_await pull_all(attempt, **writer, notes);
  if (!notes.unreadable.empty()) {
    collected.problem = "results that could not be read: " + notes.unreadable.text();
    collected.reason = Reason::output_missing;
  }
  if (!pulled) note_problem(collected, "not all results were collected", pulled.error());
  auto committed = co_await (*writer)->commit();
  if (committed) collected.artifacts = std::move(*committed);
  if (!committed) note_problem(collected, "the results could not be kept", committed.error());
  collected.missing = find_missing(task.spec, collected.artifacts);
  if (!notes.skipped.empty()) co_await tell_skipped(attempt.task, notes.skipped);
  co_return collected;
}

}  // namespace mayfly

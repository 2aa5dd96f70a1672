#include "cli/run_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <span>

#include "base/file.hpp"
#include "base/utf8.hpp"
#include "cli/exit_codes.hpp"

namespace mayfly::cli {
namespace {

constexpr int kSlots = 64;
constexpr std::size_t kLeftOverTasks = 200;
constexpr std::size_t kReadAtOnce = 256U << 10U;
constexpr Millis kEngineWait = std::chrono::seconds(10);
const TenantId kTenant{"local"};

void say(const std::string& text) {
  const std::string line = "mayfly: " + text + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

// The first slot that no other `mayfly run` holds: a slot is a data directory of its own.
Result<std::unique_ptr<Node>> open_slot(asio::io_context& io, const RunOptions& options, const Clock& clock,
                                        Metrics& metrics, Logger& log) {
  auto made = make_private_directory(options.state_dir);
  if (!made) return fail_with(std::move(made));
  for (int slot = 0; slot < kSlots; ++slot) {
    NodeConfig config{.data_dir = options.state_dir / ("run-" + std::to_string(slot)),
                      .policy_file = options.policy_file,
                      .engine = options.engine,
                      .runner_binary = options.runner_binary};
    auto node = Node::open(io, std::move(config), clock, metrics, log);
    if (node || node.error().code != ErrorCode::conflict) return node;
  }
  return fail(ErrorCode::unavailable,
              std::to_string(kSlots) + " runs are under way in " + options.state_dir.string());
}

// One task from submit to its end.
class Run {
 public:
  Run(asio::io_context& io, RunOptions& options, Node& node, Logger& log)
      : options_(options),
        plane_(node.control_plane()),
        node_(node),
        signals_(io, SIGINT, SIGTERM),
        helpers_(io.get_executor(), log) {}

  asio::awaitable<int> go();

 private:
  asio::awaitable<void> cancel_left_over();
  Async<> wait_for_engine();
  asio::awaitable<void> watch_signals();
  Async<> copy_log();
  Async<> copy_outputs();
  asio::awaitable<TaskRecord> wait_until_gone();
  asio::awaitable<int> follow();

  RunOptions& options_;
  ControlPlane& plane_;
  Node& node_;
  asio::signal_set signals_;
  Scope helpers_;
  TaskId task_;
};

// What a run that was killed has left in this slot.
asio::awaitable<void> Run::cancel_left_over() {
  TaskFilter ours;
  ours.tenant = kTenant;
  auto page = co_await plane_.list(std::move(ours), kLeftOverTasks, std::nullopt);
  if (!page) co_return;
  for (const TaskRecord& task : page->tasks) {
    if (!is_terminal(task.state)) (void)co_await plane_.cancel(kTenant, task.id);
  }
}

Async<> Run::wait_for_engine() {
  const Deadline deadline = Deadline::in(kEngineWait);
  while (!plane_.capabilities()) {
    const Readiness readiness = plane_.readiness();
    const std::string why = readiness.checks.front().detail;
    if (deadline.passed() || plane_.engine_tried()) {
      co_return fail(ErrorCode::engine_unreachable, "the container engine is not usable: " + why);
    }
    co_await plane_.wait_for_engine(deadline.within(std::chrono::seconds(1)));
  }
  co_return Result<>{};
}

asio::awaitable<void> Run::watch_signals() {
  co_await signals_.async_wait(asio::use_awaitable);
  say("cancelling; once more leaves at once");
  (void)co_await plane_.cancel(kTenant, task_);
  co_await signals_.async_wait(asio::use_awaitable);
  say("left without waiting; the next run cleans up");
  _exit(kCancelled);
}

Async<> Run::copy_log() {
  auto reader = co_await plane_.open_log(kTenant, task_, LogStream::both, 0, 0);
  if (!reader) co_return fail_with(std::move(reader));
  for (;;) {
    auto records = co_await (*reader)->next(kReadAtOnce, Deadline::in(std::chrono::seconds(60)));
    if (!records && records.error().code == ErrorCode::deadline_exceeded) continue;
    if (!records) co_return fail_with(std::move(records));
    if (records->empty()) co_return Result<>{};
    for (const LogRecord& record : *records) {
      const bool text = record.kind == LogKind::out || record.kind == LogKind::err;
      if (!text) continue;
      const int fd = record.kind == LogKind::err ? STDERR_FILENO : STDOUT_FILENO;
      auto written = write_all(fd, std::as_bytes(std::span(record.data.data(), record.data.size())));
      if (!written) co_return written;
    }
  }
}

Async<> Run::copy_outputs() {
  auto artifacts = co_await plane_.artifacts(kTenant, task_);
  if (!artifacts) co_return fail_with(std::move(artifacts));
  for (const Artifact& artifact : *artifacts) {
    if (!options_.outputs_dir) continue;
    auto reader = co_await plane_.open_artifact(kTenant, task_, artifact.path);
    if (!reader) co_return fail_with(std::move(reader));
    const std::filesystem::path to = *options_.outputs_dir / artifact.path;
    std::error_code failed;
    std::filesystem::create_directories(to.parent_path(), failed);
    if (failed)
      co_return fail(ErrorCode::io, "cannot make " + to.parent_path().string() + ": " + failed.message());
    auto file = open_file(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    if (!file) co_return fail_with(std::move(file));
    for (std::uint64_t offset = 0;;) {
      auto piece = co_await (*reader)->read(offset, kReadAtOnce);
      if (!piece) co_return fail_with(std::move(piece));
      if (piece->empty()) break;
      auto written = write_all(file->get(), std::as_bytes(std::span(piece->data(), piece->size())));
      if (!written) co_return written;
      offset += piece->size();
    }
  }
  if (!options_.quiet && !artifacts->empty()) {
    say(std::to_string(artifacts->size()) + " result files" +
        (options_.outputs_dir ? " in " + options_.outputs_dir->string()
                              : "; name a directory with --outputs to keep them"));
  }
  co_return Result<>{};
}

asio::awaitable<TaskRecord> Run::wait_until_gone() {
  for (std::uint64_t seq = 0;;) {
    auto events = co_await plane_.events(kTenant, task_, seq, Deadline::in(std::chrono::seconds(60)));
    if (events && events->empty()) break;
    if (events) seq = events->back().seq;
    if (!events && events.error().code != ErrorCode::deadline_exceeded) break;
  }
  auto task = co_await plane_.get(kTenant, task_);
  co_return task ? *task : TaskRecord{};
}

asio::awaitable<int> Run::follow() {
  auto copied = co_await copy_log();
  if (!copied) {
    say("the output could not be shown: " + copied.error().message);
    (void)co_await plane_.cancel(kTenant, task_);
  }
  auto kept = co_await copy_outputs();
  if (!kept) say("the results could not be kept: " + kept.error().message);
  const TaskRecord task = co_await wait_until_gone();
  if (!options_.quiet && task.state != TaskState::succeeded) {
    say(std::string(name_of(task.state)) + " (" + std::string(name_of(task.reason)) + ")" +
        (task.message.empty() ? "" : ": " + escape_for_terminal(task.message)));
  }
  const int code = exit_code_of(task);
  co_return code == kOk && (!copied || !kept) ? kFailure : code;
}

asio::awaitable<int> Run::go() {
  auto started = co_await plane_.start();
  if (started) co_await cancel_left_over();
  if (started) started = co_await wait_for_engine();
  int code = kOrchestrator;
  if (started) {
    auto submitted = co_await plane_.submit(kTenant, options_.spec, std::nullopt);
    if (submitted) {
      task_ = submitted->task.id;
      helpers_.spawn("signals", watch_signals());
      code = co_await follow();
    } else {
      say(submitted.error().message);
      for (const FieldFault& fault : submitted.error().fields) say(fault.pointer + ": " + fault.detail);
      code = kFailure;
    }
  } else {
    say(started.error().message);
  }
  plane_.drain();
  if (!task_.empty()) co_await plane_.idle();
  helpers_.cancel();
  co_await helpers_.drain();
  co_await node_.close();
  co_return code;
}

}  // namespace

int run(RunOptions options) {
  FdLogger log(STDERR_FILENO, LogFormat::text, options.log_level);
  std::signal(SIGPIPE, SIG_IGN);
  const SystemClock clock;
  Metrics metrics;
  asio::io_context io(1);
  auto node = open_slot(io, options, clock, metrics, log);
  if (!node) {
    say(node.error().message);
    return kOrchestrator;
  }
  int code = kOrchestrator;
  Run one(io, options, **node, log);
  auto finished = [&code](const std::exception_ptr& thrown, int result) {
    if (thrown) std::rethrow_exception(thrown);
    code = result;
  };
  asio::co_spawn(io, one.go(), finished);
  io.run();
  return code;
}

}  // namespace mayfly::cli

// The runner's one task: its start, its output, its limits, and its end.
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "memory.hpp"
#include "runner.hpp"

namespace mayfly::runner {
namespace {

constexpr std::uint64_t kLeastSpool = 256U << 10U;
constexpr std::uint64_t kMostSpool = 64 << 20;
constexpr std::size_t kSpoolMessages = 8192;
constexpr std::size_t kWarmBytes = 1536U << 10U;
constexpr int kRoundsAtOnce = 4;
constexpr std::size_t kMostMessage = 1024;

// A file system without a size has no blocks at all (a tmpfs without limits).
bool is_full(int directory) {
  struct statvfs found {};
  if (::fstatvfs(directory, &found) != 0) return false;
  return (found.f_blocks > 0 && found.f_bavail == 0) || (found.f_files > 0 && found.f_favail == 0);
}

}  // namespace

void Runner::end_unstarted(Fault fault) {
  message_ = shorten(std::move(fault.message), kMostMessage);
  life_.not_started(fault.cause);
}

void Runner::start_task(channel::BindSpec spec) {
  spec_ = std::move(spec);
  if (spec_.script) spec_.argv = {"/bin/sh", inputs_.script_path()};
  spec_.script = false;
  channel::Outbox spool(std::clamp(spec_.spool_bytes, kLeastSpool, kMostSpool), kSpoolMessages,
                        channel::Outbox::Memory::touched);
  spool.continue_after(link_.outbox().last_number());
  link_.outbox() = std::move(spool);
  warm_memory(kWarmBytes);
  meter_.begin();
  watch_.begin(meter_.look());
  disk_was_full_ = is_full(workspace_.get());
  auto launched = launch(spec_, exe_.get());
  if (!launched) return end_unstarted(std::move(launched.error()));
  task_ = std::make_unique<TaskProcess>(std::move(*launched), inputs_.take_standard_input(), spec_.log_bytes);
  inputs_.forget();
  task_->feed();
  next_tick_ = now_;  // from now on in the rhythm of this task's limits
}

// Before any output, so that `started` stands before it.
void Runner::note_launch() {
  if (!task_) return;
  const auto outcome = task_->take_launch_outcome();
  if (!outcome) return;
  if (outcome->failure) {
    task_.reset();  // the trampoline is reaped like any orphan
    return end_unstarted(describe(*outcome->failure, spec_));
  }
  const channel::Started started{.attempt = attempt_};
  link_.send_numbered(channel::kStarted, started.members());
  life_.started(now_);
}

void Runner::reap() {
  const Reaped reaped = tree_.reap(task_ ? task_->pid() : 0);
  if (reaped.main_status) {
    note_launch();  // what the trampoline said before it died
  }
  if (reaped.main_status && task_) {
    task_->wait_status = reaped.main_status;
    task_->stop_feeding();
    life_.main_ended(now_);
  }
  if (reaped.none_left) life_.tree_gone();
}

void Runner::pump() {
  if (!task_ || task_->is_launching()) return;
  const auto progress = task_->pump().pump(link_, kRoundsAtOnce);
  starved_ = progress.starved;
  life_.stalled(starved_, now_);
  if (progress.moved) life_.had_output(now_);
  const LogQuota& quota = task_->pump().quota();
  if (quota.passed() && !told_truncated_) {
    told_truncated_ = true;
    const channel::Truncated truncated{.kept_bytes = quota.kept()};
    link_.send_numbered(channel::kTruncated, truncated.members());
  }
  if (quota.passed() && !spec_.truncate_log) life_.passed_log_limit(now_);
  // Once nothing lives that could write, what is not there will not come; a stranger may still hold the other
  // end.
  if (task_->pump().at_end() || (life_.is_tree_gone() && progress.empty)) life_.drained();
}

// A workspace that the inputs had filled is no limit that the task hit.
DiskSpace Runner::disk_space() const {
  return !disk_was_full_ && is_full(workspace_.get()) ? DiskSpace::none_left : DiskSpace::left;
}

void Runner::look_at_limits() {
  reap();
  const CgroupSample& sample = meter_.look();
  if (life_.main_is_alive()) {
    tell_limits(watch_.look(sample, disk_space()));
    life_.used_cpu(meter_.task_cpu_ms(), now_);
  }
  // Not onto a carrier that takes nothing: samples would pile up.
  if (!link_.is_open() || carrier_.is_blocked()) return;
  const channel::UsageMessage message{.usage = meter_.usage(life_.stalled_ms(now_))};
  link_.send_plain(channel::kUsage, message.members());
}

void Runner::tell_limits(const std::vector<LimitHit>& hits) {
  for (const LimitHit hit : hits) {
    const channel::LimitHitMessage message{.limit = hit};
    link_.send_numbered(channel::kLimitHit, message.members());
  }
}

ProcessEnd Runner::process_end() const {
  ProcessEnd end;
  end.cause = life_.cause();
  if (!task_ || !task_->wait_status) {
    end.exit_code = exit_code_for(end.cause);
    return end;
  }
  const int status = *task_->wait_status;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

void Runner::report() {
  channel::Ended ended;
  ended.end = process_end();
  if (task_) {
    const bool by_kill = ended.end.signal == SIGKILL;
    const MainEnd how = !by_kill             ? MainEnd::by_itself
                        : life_.has_killed() ? MainEnd::killed_by_us
                                             : MainEnd::killed_by_kernel_or_task;
    const auto last = watch_.look_at_end(meter_.look(), how, disk_space());
    tell_limits(last.hits);
    ended.end.oom_killed_main = last.oom_killed_main;
    ended.usage = meter_.usage(life_.stalled_ms(now_));
    ended.out_bytes = task_->pump().bytes_of(channel::OutStream::out);
    ended.err_bytes = task_->pump().bytes_of(channel::OutStream::err);
    ended.dropped_bytes = task_->pump().quota().dropped();
    task_->pump().close();
  }
  ended.message = message_;
  link_.send_numbered(channel::kEnded, ended.members());
  life_.reported(now_);
}

}  // namespace mayfly::runner

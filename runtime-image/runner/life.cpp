#include "life.hpp"

#include <algorithm>
#include <utility>

namespace mayfly::runner {

using channel::RunnerState;

void Life::bind(const channel::BindSpec& spec, std::int64_t now) {
  run_ms_ = spec.run_ms;
  idle_ms_ = spec.idle_ms;
  cpu_ms_ = spec.cpu_ms;
  stop_ms_ = spec.stop_ms;
  if (spec.lease_ms > 0) lease_ms_ = spec.lease_ms;
  heard_at_ = now;
  phase_ = Phase::starting;
}

// A stop may have come between the fork and this news.
void Life::started(std::int64_t now) {
  started_at_ = last_output_ = now;
  if (phase_ == Phase::starting) phase_ = Phase::running;
}

void Life::not_started(Reason cause) {
  if (cause_ == Reason::none) cause_ = cause;
  if (main_is_alive()) phase_ = Phase::reporting;
}

void Life::stalled(bool standing_still, std::int64_t now) {
  if (standing_still == is_stalled_) return;
  if (is_stalled_) {
    stalled_total_ += now - stalled_at_;
    stalled_since_output_ += now - stalled_at_;
  }
  is_stalled_ = standing_still;
  stalled_at_ = now;
}

std::int64_t Life::stalled_ms(std::int64_t now) const {
  return stalled_total_ + stall_running(now);
}

void Life::used_cpu(std::int64_t ms, std::int64_t now) {
  if (phase_ == Phase::running && cpu_ms_ > 0 && ms >= cpu_ms_) begin_stop(Reason::cpu_time, now + stop_ms_);
}

void Life::begin_stop(Reason cause, std::int64_t kill_at) {
  if (cause_ == Reason::none) cause_ = cause;
  kill_at_ = kill_at;
  terminate_due_ = true;
  phase_ = Phase::stopping;
}

void Life::stop(Reason cause, StopHow how, std::int64_t grace_ms, std::int64_t now) {
  const std::int64_t kill_at = how == StopHow::at_once ? now : now + std::max<std::int64_t>(grace_ms, 0);
  switch (phase_) {
    case Phase::parked:
      cause_ = cause;
      phase_ = Phase::reporting;
      return;
    case Phase::starting:
    case Phase::running:
      return begin_stop(cause, kill_at);
    case Phase::stopping:
      kill_at_ = std::min(kill_at_, kill_at);
      return;
    case Phase::ending:
    case Phase::reporting:
    case Phase::ended:
      return;
  }
}

void Life::stop_from_outside(std::int64_t now) {
  const std::int64_t grace = main_is_alive() ? std::min(stop_ms_, kOutsideGraceMs) : 0;
  leave_at_ = std::min(leave_at_, now + grace + kOutsideHoldMs);
  stop(Reason::killed_externally, StopHow::gracefully, grace, now);
}

// What passes the limit may be the last write of a process that has ended meanwhile.
void Life::passed_log_limit(std::int64_t now) {
  if (phase_ == Phase::ending && cause_ == Reason::none) cause_ = Reason::log_limit;
  stop(Reason::log_limit, StopHow::at_once, 0, now);
}

void Life::main_ended(std::int64_t now) {
  if (!main_is_alive()) return;
  phase_ = Phase::ending;
  next_kill_ = now;
  give_up_at_ = now + kGiveUpKillingMs;
}

void Life::reported(std::int64_t now) {
  phase_ = Phase::ended;
  if (leave_at_ != kNever) leave_at_ = std::min(leave_at_, now + kOutsideHoldMs);
}

void Life::released(std::int64_t now) {
  released_ = true;
  if (phase_ == Phase::parked) phase_ = Phase::ended;
  // Given up while it runs: nobody waits for the end any more.
  stop(Reason::killed_externally, StopHow::at_once, 0, now);
}

void Life::check_lease(std::int64_t now) {
  if (now < lease_ends_at()) return;
  lease_over_ = true;
  if (phase_ == Phase::parked) phase_ = Phase::ended;
  stop(Reason::runner_lost, StopHow::gracefully, stop_ms_, now);
}

std::int64_t Life::run_ends_at(std::int64_t now) const {
  return run_ms_ == 0 || is_stalled_ ? kNever : started_at_ + run_ms_ + stalled_ms(now);
}

std::int64_t Life::idle_ends_at() const {
  return idle_ms_ == 0 || is_stalled_ ? kNever : last_output_ + idle_ms_ + stalled_since_output_;
}

void Life::check_limits(std::int64_t now) {
  if (phase_ != Phase::running) return;
  if (now >= run_ends_at(now)) return begin_stop(Reason::run_timeout, now + stop_ms_);
  if (now >= idle_ends_at()) begin_stop(Reason::idle_timeout, now + stop_ms_);
}

// Waiting for the rest of the tree, or for room in the spool, ends where nobody will ever come.
void Life::check_patience(std::int64_t now) {
  if (phase_ != Phase::ending) return;
  if (now >= give_up_at_) tree_gone_ = true;
  if (lease_over_ || released_ || now >= leave_at_) drained_ = drained_ || tree_gone_;
}

bool Life::kill_is_due(std::int64_t now) {
  if (now < next_kill_) return false;
  next_kill_ = now + kKillAgainMs;
  return true;
}

Step Life::next_signal(std::int64_t now) {
  if (now >= kill_at_) {
    killed_ = true;
    terminate_due_ = false;
    return kill_is_due(now) ? Step::kill : Step::none;
  }
  if (!std::exchange(terminate_due_, false)) return Step::none;
  return Step::terminate;
}

Step Life::next(std::int64_t now) {
  check_lease(now);
  check_limits(now);
  check_patience(now);
  switch (phase_) {
    case Phase::parked:
    case Phase::starting:
    case Phase::running:
      return Step::none;
    case Phase::stopping:
      return next_signal(now);
    case Phase::ending:
      if (!tree_gone_) return kill_is_due(now) ? Step::kill : Step::none;
      if (!drained_) return Step::none;
      phase_ = Phase::reporting;
      return Step::report;
    case Phase::reporting:
      return Step::report;
    case Phase::ended:
      return released_ || lease_over_ || now >= leave_at_ ? Step::leave : Step::none;
  }
  return Step::none;
}

std::int64_t Life::wake_at(std::int64_t now) const {
  std::int64_t wake = lease_ends_at();
  if (phase_ == Phase::running) wake = std::min({wake, run_ends_at(now), idle_ends_at()});
  if (phase_ == Phase::stopping) wake = std::min(wake, std::max(kill_at_, next_kill_));
  if (phase_ == Phase::ending)
    wake = std::min({wake, tree_gone_ ? kNever : std::min(next_kill_, give_up_at_), leave_at_});
  if (phase_ == Phase::ended) wake = std::min(wake, leave_at_);
  return wake;
}

RunnerState Life::state() const {
  switch (phase_) {
    case Phase::parked:
      return RunnerState::parked;
    case Phase::starting:
      return RunnerState::bound;
    case Phase::running:
      return RunnerState::running;
    case Phase::stopping:
    case Phase::ending:
    case Phase::reporting:
      return RunnerState::stopping;
    case Phase::ended:
      return RunnerState::ended;
  }
  return RunnerState::ended;
}

LeaveReason Life::leave_reason() const {
  if (released_) return LeaveReason::released;
  if (lease_over_) return LeaveReason::lease;
  return leave_at_ != kNever ? LeaveReason::told_from_outside : LeaveReason::none;
}

}  // namespace mayfly::runner

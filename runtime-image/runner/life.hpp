// The life of the one task that a runner serves, as decisions without I/O: events and the time go in, the
// step that is due comes out. It holds the run, idle and CPU limits, the grace of a stop, the order of the
// end, and the lease; so they hold also while no orchestrator is there. Times are milliseconds of one
// monotonic clock.
//
//   parked → bound → running → stopping → ended        (stop and a failed start lead from each to the end)
#pragma once

#include <cstdint>
#include <limits>

#include "channel/messages.hpp"

namespace mayfly::runner {

enum class Step {
  none,
  terminate,  // SIGTERM to the whole tree
  kill,       // SIGKILL to the whole tree; due again until it is gone
  report,     // send `ended`; then call reported
  leave,      // exit
};

enum class LeaveReason { none, released, lease, told_from_outside };
enum class StopHow { gracefully, at_once };

class Life {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kParkedLeaseMs = 3'600'000;
  static constexpr std::int64_t kKillAgainMs = 20;
  static constexpr std::int64_t kGiveUpKillingMs =
      10'000;  // a process in uninterruptible sleep must not hold the end
  static constexpr std::int64_t kOutsideGraceMs =
      5'000;  // the engine's own SIGKILL comes 10 s after its SIGTERM
  static constexpr std::int64_t kOutsideHoldMs = 3'000;

  explicit Life(std::int64_t now) : heard_at_(now) {}

  // --- events ---
  void heard(std::int64_t now) { heard_at_ = now; }  // a line of the current epoch
  void bind(const channel::BindSpec& spec, std::int64_t now);
  void started(std::int64_t now);
  void not_started(Reason cause);
  void had_output(std::int64_t now) {
    last_output_ = now;
    stalled_since_output_ = 0;
  }
  void stalled(bool standing_still, std::int64_t now);
  void used_cpu(std::int64_t ms, std::int64_t now);
  // The first cause wins; a second stop can only hurry.
  void stop(Reason cause, StopHow how, std::int64_t grace_ms, std::int64_t now);
  void stop_from_outside(std::int64_t now);  // the engine's SIGTERM
  void passed_log_limit(std::int64_t now);
  void main_ended(std::int64_t now);
  void tree_gone() { tree_gone_ = true; }
  void drained() { drained_ = true; }
  void reported(std::int64_t now);
  void released(std::int64_t now);

  // --- decisions ---
  Step next(std::int64_t now);
  // When next() may have something due, if no event comes before.
  std::int64_t wake_at(std::int64_t now) const;

  channel::RunnerState state() const;
  Reason cause() const { return cause_; }
  LeaveReason leave_reason() const;
  bool main_is_alive() const {
    return phase_ == Phase::starting || phase_ == Phase::running || phase_ == Phase::stopping;
  }
  bool has_killed() const { return killed_; }  // SIGKILL was due before the main process was seen to end
  bool is_tree_gone() const { return tree_gone_; }
  std::int64_t stalled_ms(std::int64_t now) const;

 private:
  enum class Phase { parked, starting, running, stopping, ending, reporting, ended };
  void begin_stop(Reason cause, std::int64_t kill_at);
  void check_lease(std::int64_t now);
  void check_limits(std::int64_t now);
  void check_patience(std::int64_t now);
  Step next_signal(std::int64_t now);
  bool kill_is_due(std::int64_t now);
  std::int64_t run_ends_at(std::int64_t now) const;
  std::int64_t idle_ends_at() const;
  std::int64_t lease_ends_at() const { return lease_over_ ? kNever : heard_at_ + lease_ms_; }
  std::int64_t stall_running(std::int64_t now) const { return is_stalled_ ? now - stalled_at_ : 0; }

  Phase phase_ = Phase::parked;
  Reason cause_ = Reason::none;
  // limits of the spec; 0: none
  std::int64_t run_ms_ = 0, idle_ms_ = 0, cpu_ms_ = 0, stop_ms_ = 0, lease_ms_ = kParkedLeaseMs;
  // clocks
  std::int64_t heard_at_;
  std::int64_t started_at_ = 0, last_output_ = 0;
  bool is_stalled_ = false;
  std::int64_t stalled_at_ = 0, stalled_total_ = 0, stalled_since_output_ = 0;
  // the stop and the end
  bool terminate_due_ = false, killed_ = false;
  std::int64_t kill_at_ = kNever, next_kill_ = 0, give_up_at_ = kNever;
  std::int64_t leave_at_ = kNever;  // set when told from outside
  bool tree_gone_ = false, drained_ = false;
  bool released_ = false, lease_over_ = false;
};

}  // namespace mayfly::runner

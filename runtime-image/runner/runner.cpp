#include "runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/ids.hpp"
#include "exit_codes.hpp"
#include "mono_clock.hpp"
#include "self_report.hpp"

namespace mayfly::runner {
namespace {

constexpr std::size_t kParkedSpool = 16U << 10U;
constexpr std::size_t kParkedMessages = 16;
constexpr std::int64_t kTickMs = 1000;
constexpr std::int64_t kCpuTickMs = 100;      // while a CPU limit is to be held
constexpr std::int64_t kQuietAfterMs = 3000;  // a parked runner sleeps when nobody has spoken for so long
constexpr std::int64_t kFlushMs = 2000;       // the engine drops what it has not read 2 s after our exit

// From outside of the sandbox: as PID 1 we see such a sender as 0, and nobody inside can forge it together
// with SI_USER (rt_sigqueueinfo can forge the pid, but no code >= 0). Otherwise the parent that started us.
bool is_from_outside(const signalfd_siginfo& info, bool is_init) {
  if (info.ssi_code != SI_USER) return false;
  return is_init ? info.ssi_pid == 0 : info.ssi_pid == static_cast<std::uint32_t>(::getppid());
}

}  // namespace

Runner::Runner(const Places& places, CarrierFds carrier, UniqueFd exe, UniqueFd signals)
    : link_(channel::Outbox(kParkedSpool, kParkedMessages, channel::Outbox::Memory::lazy)),
      carrier_(std::move(carrier)),
      exe_(std::move(exe)),
      signals_(std::move(signals)),
      workspace_(raise_fd(UniqueFd(::open(places.workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)))),
      meter_(tree_, make_own_cgroup()),
      inputs_(workspace_.get(), places.scratch),
      life_(now_ms()),
      self_(make_self_report(meter_.cgroup_version())),
      instance_(make_random_hex(16)),
      now_(now_ms()),
      next_tick_(now_ + kTickMs) {}

int Runner::run() {
  for (;;) {
    wait_for_something();
    now_ = now_ms();
    if (carrier_.read_into(link_, now_)) last_heard_ = now_;
    take_messages();
    note_launch();
    read_signals();
    pump();
    if (now_ >= next_tick_) tick();
    if (!take_steps()) break;
    if (carrier_.write_from(link_, now_)) answered_ = 0;
  }
  leave();
  switch (life_.leave_reason()) {
    case LeaveReason::released:
      return kReleased;
    case LeaveReason::lease:
      return kLeaseOver;
    case LeaveReason::told_from_outside:
    case LeaveReason::none:
      return kToldFromOutside;
  }
  return kBug;
}

bool Runner::is_ticking() const {
  const auto state = life_.state();
  const bool is_quiet = (state == channel::RunnerState::parked || state == channel::RunnerState::ended) &&
                        link_.outbox().size() == 0 && now_ - last_heard_ > kQuietAfterMs;
  return !is_quiet;
}

std::int64_t Runner::wake_at() const {
  std::int64_t wake = std::min(life_.wake_at(now_), carrier_.wake_at(now_, link_.has_output()));
  if (is_ticking()) wake = std::min(wake, next_tick_);
  return wake;
}

void Runner::wait_for_something() {
  enum { carrier_in, carrier_out, signals, started, input, out, err, count };
  std::array<pollfd, count> asked{};
  const auto ask = [&](int index, int fd, short events) {
    asked[static_cast<std::size_t>(index)] = {fd, events, 0};
  };
  ask(carrier_in, carrier_.read_fd(now_), POLLIN);
  ask(carrier_out, carrier_.write_fd(), POLLOUT);
  ask(signals, signals_.get(), POLLIN);
  const bool has_task = task_ != nullptr;
  const bool reads_output = has_task && !starved_ && !task_->is_launching();
  ask(started, has_task ? task_->status_fd() : -1, POLLIN);
  ask(input, has_task ? task_->in_fd() : -1, POLLOUT);
  ask(out, reads_output ? task_->pump().out_fd() : -1, POLLIN);
  ask(err, reads_output ? task_->pump().err_fd() : -1, POLLIN);
  constexpr std::int64_t kLongest = 3'600'000;
  const auto timeout = std::clamp<std::int64_t>(wake_at() - now_, 0, kLongest);
  ::poll(asked.data(), asked.size(), static_cast<int>(timeout));
  if (asked[carrier_out].revents != 0) carrier_.may_write_again();
  if (asked[input].revents != 0) task_->feed();
}

void Runner::read_signals() {
  signalfd_siginfo info{};
  bool child_ended = false;
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) child_ended = true;
    if (info.ssi_signo == SIGTERM && is_from_outside(info, tree_.is_init())) life_.stop_from_outside(now_);
  }
  if (child_ended) reap();
}

void Runner::tick() {
  link_.on_tick(now_);
  if (task_ && life_.state() != channel::RunnerState::ended) look_at_limits();
  next_tick_ = now_ + (spec_.cpu_ms > 0 ? kCpuTickMs : kTickMs);
}

// False when it is time to leave.
bool Runner::take_steps() {
  for (;;) {
    switch (life_.next(now_)) {
      case Step::none:
        return true;
      case Step::terminate:
        tree_.signal_all(SIGTERM);
        break;
      case Step::kill:
        tree_.signal_all(SIGKILL);
        reap();
        return true;
      case Step::report:
        report();
        break;
      case Step::leave:
        return false;
    }
  }
}

// The last acknowledgement must be out before the exit; a carrier that takes nothing is not waited for long.
void Runner::leave() {
  const std::int64_t give_up_at = now_ + kFlushMs;
  while (now_ < give_up_at && !carrier_.write_from(link_, now_)) {
    pollfd asked{carrier_.write_fd(), POLLOUT, 0};
    constexpr int kPatienceMs = 10;
    ::poll(&asked, 1, kPatienceMs);
    carrier_.may_write_again();
    now_ = now_ms();
  }
}

}  // namespace mayfly::runner

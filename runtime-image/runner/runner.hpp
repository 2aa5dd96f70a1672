// The runner: one poll loop around one channel and at most one task. It performs; what is decided stands in
// Life, LimitWatch, LogQuota and Link. Single thread.
#pragma once

#include <memory>
#include <string>

#include "carrier.hpp"
#include "inputs.hpp"
#include "life.hpp"
#include "limit_watch.hpp"
#include "task_process.hpp"
#include "usage_meter.hpp"

namespace mayfly::runner {

struct Places {
  std::string workspace = "/workspace";
  std::string scratch = "/tmp";  // for the script
};

class Runner {
 public:
  // `exe`: the runner's own binary. `signals`: a signalfd for SIGCHLD and SIGTERM, which are blocked.
  Runner(const Places& places, CarrierFds carrier, UniqueFd exe, UniqueFd signals);
  // The exit code.
  int run();

 private:
  // the loop (runner.cpp)
  void wait_for_something();
  void read_signals();
  void tick();
  bool take_steps();
  void leave();
  std::int64_t wake_at() const;
  bool is_ticking() const;

  // messages (runner_messages.cpp)
  void take_messages();
  void take(const channel::Incoming& incoming);
  void take_attach(const channel::Incoming& incoming);
  void take_numbered(const channel::Incoming& incoming);
  void take_request(const channel::Incoming& incoming);
  void take_bind(const channel::Bind& bind);
  void answer_list(std::int64_t id, const Json& body);
  void answer_read(std::int64_t id, const Json& body);
  void say_hello();

  // the task (runner_task.cpp)
  void start_task(channel::BindSpec spec);
  void end_unstarted(Fault fault);
  void note_launch();
  void reap();
  void pump();
  void look_at_limits();
  DiskSpace disk_space() const;
  void report();
  void tell_limits(const std::vector<LimitHit>& hits);
  ProcessEnd process_end() const;

  channel::Link link_;
  Carrier carrier_;
  UniqueFd exe_, signals_, workspace_;
  Tree tree_;
  UsageMeter meter_;
  LimitWatch watch_;
  Inputs inputs_;
  Life life_;
  channel::SelfReport self_;
  std::string instance_, nonce_, attempt_;
  channel::BindSpec spec_;
  std::unique_ptr<TaskProcess> task_;
  std::string message_;  // of the end, for people
  bool told_truncated_ = false, starved_ = false, disk_was_full_ = false;
  std::size_t answered_ = 0;  // bytes of answers since the carrier last took everything
  std::int64_t now_;          // of this turn of the loop
  std::int64_t next_tick_, last_heard_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace mayfly::runner

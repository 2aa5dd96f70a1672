// The real mayfly-runner as a subprocess (not PID 1, so it adopts orphans as a subreaper), with the
// orchestrator's side of the channel over its stdin and stdout.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "channel/link.hpp"
#include "channel/messages.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

class RunnerProcess {
 public:
  RunnerProcess();
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // A new epoch, as after a lost carrier; the answer.
  channel::Hello attach();
  // As another process than before would attach: with a link that knows nothing but what stands in the log
  // segment.
  channel::Hello attach_as_successor();
  void send_attach(std::uint64_t epoch, const std::string& nonce);

  void put(channel::PutTarget target, const std::string& bytes, const std::string& path = {});
  void bind(const channel::BindSpec& spec, const std::string& attempt = "att_1");
  // attach, bind, and wait for the end.
  const channel::Ended& run(const channel::BindSpec& spec);
  const channel::Ended& wait_for_end();
  void stop(const channel::Stop& stop);
  void release();
  channel::Incoming request(std::string_view method, const std::string& members);

  // Drives the conversation until the condition holds; fails the test, naming the line, when it does not in
  // 60 s.
  void until(const std::function<bool()>& holds, int line = __builtin_LINE());
  // Drives it until the runner answers something sent now: what came before has been dealt with.
  void settle();
  int wait_for_exit(int line = __builtin_LINE());
  void send_raw(std::string_view bytes);
  void close_input();

  pid_t pid() const { return pid_; }
  std::string workspace() const { return (dir_.path() / "workspace").string(); }
  std::string scratch() const { return (dir_.path() / "scratch").string(); }
  bool has(std::string_view method) const;

  // What came.
  std::string out, err;
  std::vector<std::string> methods;  // of numbered messages, in order; `out` only once in a row
  std::vector<LimitHit> limits;
  std::vector<channel::Hello> hellos;
  std::optional<channel::Ended> ended;
  std::optional<Usage> usage;
  std::uint64_t taken = 0;
  bool acknowledges = true;

 private:
  bool turn();
  void take(const channel::Incoming& incoming);
  void flush();
  channel::Hello open();

  TempDir dir_;
  channel::Link link_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::uint64_t epoch_ = 0;
  std::int64_t last_request_ = 0;
  std::string spec_text_;
  std::optional<channel::Incoming> answer_;
};

// A spec that runs `/bin/sh -c text` with nothing but PATH.
channel::BindSpec shell(const std::string& text);
// What the pid files in a directory name: those that still live.
std::vector<pid_t> living(const std::vector<pid_t>& pids);
std::vector<pid_t> pids_in(const std::string& directory);

}  // namespace mayfly::test

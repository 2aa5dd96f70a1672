// The orchestrator's side of one sandbox's channel: drives a carrier with a channel::Link, writes everything
// numbered to the log segment before it is acknowledged, and keeps what the runner said of itself. It
// survives its carriers: a new one (with a higher epoch) goes on where the last one ended. Owned by one
// attempt; all calls from the I/O thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/notifier.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "channel/link.hpp"
#include "channel/messages.hpp"
#include "log_store/log_store.hpp"
#include "runtime/runtime.hpp"

namespace mayfly {

// What the runner has reported so far.
struct RunnerView {
  bool started = false;
  bool has_output = false;
  std::optional<channel::Ended> ended;
  std::vector<LimitHit> limits_hit;
  Usage usage;
  std::vector<UsageSample> new_samples;  // taken away by the owner
  MonoTime last_heard{};
};

class Conversation {
 public:
  // `changed` is notified whenever anything that can be asked below has changed.
  Conversation(Notifier& changed, asio::any_io_executor io, LogWriter& log_writer, Metrics& metrics,
               Logger& log, const Clock& clock);

  // Opens the conversation over `carrier` and drives it until it ends, or `close` is called, or the log
  // segment cannot be written (log_fault). One at a time. `expected_instance`: empty at the first attach; a
  // runner that says another one is not talked to.
  asio::awaitable<void> serve(std::unique_ptr<Carrier> carrier, std::uint64_t epoch,
                              std::string expected_instance);
  void close();

  bool serving() const { return carrier_ != nullptr; }
  bool connected() const { return serving() && link_.is_open(); }
  bool is_foreign() const { return foreign_; }  // the last hello had another instance
  // A carrier after the first one shows a runner without an attempt, and no bind of ours is on its way.
  bool is_unbound() const { return unbound_; }
  const std::optional<channel::Hello>& hello() const { return hello_; }  // of the current or last carrier
  const std::optional<Error>& log_fault() const { return log_fault_; }   // why the last carrier was given up
  const RunnerView& view() const { return view_; }
  std::vector<UsageSample> take_samples() { return std::exchange(view_.new_samples, {}); }
  // Puts back what an earlier process has learnt from this runner (read from the segment).
  void restore(RunnerView view) { view_ = std::move(view); }

  // Queues a numbered message; waits while the outbox is full.
  Async<> send(std::string method, std::string members, std::string payload, Deadline deadline);
  // Completes when the runner has taken everything that was sent.
  Async<> flushed(Deadline deadline);
  // Asks and waits for the answer, and asks again when it is late (requests have no side effect).
  // engine_unreachable when the carrier is lost; when the runner refuses, not_found for what is not there,
  // payload_too_large for more than it lists, and unprocessable for all else, in its words.
  Async<channel::Incoming> request(std::string method, std::string members, Deadline deadline);

 private:
  struct Noted {
    LogRecord record;  // without its data
    std::string method;
    Json body;
  };
  // What is taken in one go.
  struct Batch {
    std::vector<LogRecord> records;  // for the segment
    std::vector<Noted> noted;        // of the same messages, what note_numbered needs
    std::vector<channel::Incoming> plain;
    std::size_t bytes = 0;  // of payload in `records`
    std::size_t size() const { return noted.size() + plain.size(); }
    bool is_empty() const { return records.empty() && plain.empty(); }
  };

  Async<> read_loop();
  Async<> write_loop();
  Async<> tick_loop();
  Batch next_batch();
  Async<> take(Batch& batch);
  void send_acknowledgement();
  void take_plain(channel::Incoming incoming);
  std::optional<LogRecord> take_hello(const channel::Incoming& incoming);
  void note_numbered(const LogRecord& record, const std::string& method, const Json& body);
  void send_attach();

  asio::any_io_executor io_;
  LogWriter& writer_;
  Metrics& metrics_;
  Logger& log_;
  const Clock& clock_;
  channel::Link link_;
  std::unique_ptr<Carrier> carrier_;
  std::string nonce_;
  std::string expected_instance_;
  std::optional<channel::Hello> hello_;
  bool foreign_ = false;
  bool unbound_ = false;
  std::optional<Error> log_fault_;
  RunnerView view_;
  std::int64_t last_request_ = 0;
  std::map<std::int64_t, std::optional<channel::Incoming>> requests_;
  Notifier& changed_;
  Notifier output_due_;
  std::size_t unacknowledged_ =
      0;  // written to the segment since the last acknowledgement; bytes and weights
};

}  // namespace mayfly

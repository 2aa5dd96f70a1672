// One side of the channel without I/O: epochs, numbers, acknowledgement and sending again. Used by the runner
// and by the orchestrator alike; who opens a conversation (attach and hello) is the owner's part. Single
// thread.
//
// Every message's params (or result) carry "e" (epoch); numbered ones also "n". Lines of another epoch than
// the current, with a bad CRC, or out of order are dropped here, and never reach the owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "channel/outbox.hpp"
#include "channel/record.hpp"

namespace mayfly::channel {

inline constexpr int kProtocolVersion = 1;

// A message that reached its owner: exactly once and in order when numbered.
struct Incoming {
  std::string method;                      // of a notification or request; empty for a response
  std::optional<std::int64_t> request_id;  // of a request or response
  std::uint64_t number = 0;                // 0: not numbered
  Json body;                               // params of a message, or result of a response
  std::string error;                       // a response's error message; `body` is its data then
  std::string payload;
};

class Link {
 public:
  explicit Link(Outbox outbox) : outbox_(std::move(outbox)) {}

  // --- who we are talking to ---
  // From now on lines carry `epoch`, and only lines of this epoch are taken. What was queued for writing
  // under the old epoch is dropped up to the line border; everything that is not acknowledged will be sent
  // again. `peer_has`: the highest of our numbers that the peer has taken. `ours`: the highest of its numbers
  // that we have.
  void begin_epoch(std::uint64_t epoch);
  void resume(std::uint64_t peer_has, std::uint64_t ours);
  std::uint64_t epoch() const { return epoch_; }
  // Until the conversation is open (hello), only attach and hello may pass.
  void set_open(bool open) { open_ = open; }
  bool is_open() const { return open_; }

  // --- sending ---
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  std::uint64_t send_numbered(std::string_view method, std::string_view members,
                              std::string_view payload = {}) {
    return outbox_.push(method, members, payload);
  }
  // Not numbered, never repeated by itself. `members` as in OutboxMessage.
  void send_plain(std::string_view method, std::string_view members, std::string_view payload = {});
  void send_request(std::int64_t id, std::string_view method, std::string_view members);
  void send_response(std::int64_t id, std::string_view members, std::string_view payload = {});
  void send_error(std::int64_t id, const Error& error);
  // A bare newline: ends whatever half line stands on the wire.
  void send_newline() { wire_.push_back('\n'); }

  // The bytes to write next: at most about `max` (whole lines, at least one when there is one). Call `wrote`
  // with how many were written.
  std::string_view output(std::size_t max = 256U << 10U);
  void wrote(std::size_t n);
  bool has_output() const { return wire_begin_ < wire_.size() || (open_ && outbox_.has_unsent()); }

  // --- receiving ---
  void feed(std::string_view bytes) { splitter_.feed(bytes); }
  std::optional<Incoming> next();
  // Bytes that were fed and not yet looked at by next().
  std::size_t unread() const { return splitter_.unread(); }
  // The highest number of the peer that was taken in order.
  std::uint64_t taken() const { return taken_; }
  // Tells the peer that everything up to `number` is safe (taken() for the runner; what is on disk for the
  // orchestrator). Sent as `ack` with the next output; repeated calls coalesce.
  void acknowledge(std::uint64_t number);

  // Call about every `kResendAfterMs` ms with the monotonic time in ms: sends again when the peer's
  // acknowledgement has not moved for that long, and repeats our own acknowledgement.
  void on_tick(std::int64_t now_ms);
  static constexpr std::int64_t kResendAfterMs = 1000;

  // Counted, for diagnosis.
  std::uint64_t dropped_lines() const { return dropped_; }

 private:
  std::optional<Incoming> take(Record record);
  bool take_number(std::uint64_t number);
  void append(std::string_view head, std::string_view payload);
  void append_message(std::string_view method, std::uint64_t number, std::string_view members,
                      std::string_view payload);
  void flush_acknowledgement();

  Outbox outbox_;
  LineSplitter splitter_;
  std::string wire_;
  std::size_t wire_begin_ = 0;  // written up to here
  std::uint64_t epoch_ = 0;
  bool open_ = false;
  std::uint64_t taken_ = 0;
  std::uint64_t acknowledged_ = 0;  // what we have told the peer, or will with the next output
  bool ack_due_ = false;
  bool gap_reported_ = false;
  std::uint64_t dropped_ = 0;
  std::uint64_t watched_ack_ = 0;  // outbox_.acknowledged() at watched_since_ms_
  std::int64_t watched_since_ms_ = -1;
};

}  // namespace mayfly::channel

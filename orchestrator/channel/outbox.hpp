// Numbered messages that the peer has not yet acknowledged: the spool. Single thread; no I/O.
// The memory is one block, allocated (and, on demand, touched) once, so that a full spool can never make its
// owner allocate: in the runner that would mean to be OOM-killed by its own task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::channel {

struct OutboxMessage {
  std::uint64_t number = 0;
  std::string_view method;
  std::string_view
      members;  // further members of params as JSON text without braces ("\"s\":1,\"off\":0"); may be empty
  std::string_view payload;
};

class Outbox {
 public:
  enum class Memory { lazy, touched };
  // `capacity` bytes for texts and payloads, and `max_messages` messages at most; both fixed.
  Outbox(std::size_t capacity, std::size_t max_messages, Memory memory);

  // Room for one more message with a payload of `payload` bytes, while `reserve` bytes and `reserve_messages`
  // messages stay free for those that must always fit (the end of a task).
  bool has_room(std::size_t payload, std::size_t reserve = 0, std::size_t reserve_messages = 0) const;
  // Takes the message; its number is last_number() + 1. std::logic_error when there is no room.
  std::uint64_t push(std::string_view method, std::string_view members, std::string_view payload);
  // The next message that was not sent since the last rewind; it counts as sent afterwards. Views last until
  // `ack`.
  std::optional<OutboxMessage> next_unsent();
  bool has_unsent() const { return sent_ < messages_.size(); }
  // The peer has everything up to `number`: frees it. Numbers beyond what was pushed are ignored (false).
  bool ack(std::uint64_t number);
  // Everything that is not acknowledged counts as not sent.
  void rewind() { sent_ = 0; }
  // Numbering goes on after `number`; only while nothing is held (a successor continues where the peer
  // stands).
  void continue_after(std::uint64_t number);

  std::uint64_t last_number() const { return last_; }
  std::uint64_t acknowledged() const { return last_ - messages_.size(); }
  std::size_t size() const { return messages_.size(); }
  std::size_t bytes_held() const { return used_; }

 private:
  struct Entry {
    std::size_t at = 0;       // where its bytes begin in block_
    std::size_t skipped = 0;  // bytes left unused before it, at the end of the block
    std::uint32_t method = 0, members = 0, payload = 0;  // lengths
  };
  std::size_t place_for(std::size_t bytes, std::size_t& skipped) const;
  bool fits(std::size_t bytes) const;

  std::vector<char> block_;
  std::vector<Entry> ring_;  // max_messages entries
  struct Window {            // a fixed ring over ring_
    std::size_t first = 0, count = 0;
    std::size_t size() const { return count; }
  } messages_;
  const Entry& entry(std::size_t i) const { return ring_[(messages_.first + i) % ring_.size()]; }
  std::size_t sent_ = 0;  // how many of messages_ were sent
  std::size_t head_ = 0;  // where the next message's bytes may begin
  std::size_t used_ = 0;  // bytes in use, skipped ones included
  std::uint64_t last_ = 0;
};

}  // namespace mayfly::channel

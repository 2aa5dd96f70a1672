#include "channel/outbox.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

namespace mayfly::channel {

Outbox::Outbox(std::size_t capacity, std::size_t max_messages, Memory memory) {
  block_.reserve(capacity);
  ring_.reserve(max_messages);
  ring_.resize(max_messages);
  // std::vector::resize writes every byte, which is what "touched" asks for; a lazy block grows as it is
  // used, and never beyond the capacity reserved here, so growing never allocates.
  if (memory == Memory::touched) block_.resize(capacity);
}

// The bytes of one message stand together. `head_` runs through the block as a ring; when a message does not
// fit behind it, the rest of the block is skipped.
std::size_t Outbox::place_for(std::size_t bytes, std::size_t& skipped) const {
  skipped = 0;
  if (head_ + bytes <= block_.capacity()) return head_;
  skipped = block_.capacity() - head_;
  return 0;
}

bool Outbox::fits(std::size_t bytes) const {
  std::size_t skipped = 0;
  place_for(bytes, skipped);
  return used_ + skipped + bytes <= block_.capacity();
}

bool Outbox::has_room(std::size_t payload, std::size_t reserve, std::size_t reserve_messages) const {
  constexpr std::size_t kTexts = 128;  // method and members of an ordinary message
  if (messages_.count + reserve_messages >= ring_.size()) return false;
  const std::size_t bytes = payload + kTexts;
  return fits(bytes) && used_ + bytes + 2 * reserve <= block_.capacity();
}

std::uint64_t Outbox::push(std::string_view method, std::string_view members, std::string_view payload) {
  const std::size_t bytes = method.size() + members.size() + payload.size();
  if (messages_.count >= ring_.size() || !fits(bytes)) throw std::logic_error("channel outbox has no room");
  Entry entry;
  entry.at = place_for(bytes, entry.skipped);
  entry.method = static_cast<std::uint32_t>(method.size());
  entry.members = static_cast<std::uint32_t>(members.size());
  entry.payload = static_cast<std::uint32_t>(payload.size());
  if (block_.size() < entry.at + bytes) block_.resize(entry.at + bytes);
  char* to = block_.data() + entry.at;
  for (const std::string_view part : {method, members, payload}) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  head_ = entry.at + bytes;
  used_ += entry.skipped + bytes;
  ring_[(messages_.first + messages_.count) % ring_.size()] = entry;
  ++messages_.count;
  return ++last_;
}

std::optional<OutboxMessage> Outbox::next_unsent() {
  if (sent_ >= messages_.count) return std::nullopt;
  const Entry& found = entry(sent_);
  const char* at = block_.data() + found.at;
  OutboxMessage message;
  message.number = acknowledged() + sent_ + 1;
  message.method = std::string_view(at, found.method);
  message.members = std::string_view(at + found.method, found.members);
  message.payload = std::string_view(at + found.method + found.members, found.payload);
  ++sent_;
  return message;
}

bool Outbox::ack(std::uint64_t number) {
  if (number > last_) return false;
  while (messages_.count > 0 && acknowledged() < number) {
    const Entry& oldest = entry(0);
    used_ -= oldest.skipped + oldest.method + oldest.members + oldest.payload;
    messages_.first = (messages_.first + 1) % ring_.size();
    --messages_.count;
    if (sent_ > 0) --sent_;
  }
  if (messages_.count == 0) {
    head_ = 0;
    used_ = 0;
  }
  return true;
}

void Outbox::continue_after(std::uint64_t number) {
  if (messages_.count != 0) throw std::logic_error("channel outbox still holds messages");
  last_ = number;
}

}  // namespace mayfly::channel

#include "channel/link.hpp"

#include "channel/messages.hpp"

namespace mayfly::channel {
namespace {

constexpr std::string_view kOpenMessage = R"({"jsonrpc":"2.0","method":")";

std::optional<std::uint64_t> number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

void append_members(std::string& head, std::string_view members) {
  if (members.empty()) return;
  head.push_back(',');
  head.append(members);
}

}  // namespace

void Link::begin_epoch(std::uint64_t epoch) {
  epoch_ = epoch;
  open_ = false;
  // Whole lines that were not begun are dropped. A line that was begun is ended by the newline that opens the
  // epoch: the reader drops it by its CRC.
  wire_.clear();
  wire_begin_ = 0;
  wire_.push_back('\n');
  outbox_.rewind();
  ack_due_ = false;
  gap_reported_ = false;
  watched_since_ms_ = -1;
}

void Link::resume(std::uint64_t peer_has, std::uint64_t ours) {
  if (outbox_.size() == 0 && peer_has > outbox_.last_number()) outbox_.continue_after(peer_has);
  outbox_.ack(peer_has);
  outbox_.rewind();
  taken_ = acknowledged_ = ours;
  open_ = true;
}

void Link::append_message(std::string_view method, std::uint64_t number, std::string_view members,
                          std::string_view payload) {
  std::string head(kOpenMessage);
  head.append(method).append(R"(","params":{"e":)").append(std::to_string(epoch_));
  if (number > 0) head.append(R"(,"n":)").append(std::to_string(number));
  append_members(head, members);
  head.append("}}");
  append(head, payload);
}

void Link::append(std::string_view head, std::string_view payload) {
  if (wire_begin_ == wire_.size()) {
    wire_.clear();
    wire_begin_ = 0;
  }
  append_record(wire_, head, payload);
}

void Link::send_plain(std::string_view method, std::string_view members, std::string_view payload) {
  append_message(method, 0, members, payload);
}

void Link::send_request(std::int64_t id, std::string_view method, std::string_view members) {
  std::string head(R"({"jsonrpc":"2.0","id":)");
  head.append(std::to_string(id)).append(R"(,"method":")").append(method);
  head.append(R"(","params":{"e":)").append(std::to_string(epoch_));
  append_members(head, members);
  head.append("}}");
  append(head, {});
}

void Link::send_response(std::int64_t id, std::string_view members, std::string_view payload) {
  std::string head(R"({"jsonrpc":"2.0","id":)");
  head.append(std::to_string(id)).append(R"(,"result":{"e":)").append(std::to_string(epoch_));
  append_members(head, members);
  head.append("}}");
  append(head, payload);
}

void Link::send_error(std::int64_t id, const Error& error) {
  const Json head{{"jsonrpc", "2.0"},
                  {"id", id},
                  {"error",
                   {{"code", -32000},
                    {"message", error.message},
                    {"data", {{"e", epoch_}, {"code", name_of(error.code)}}}}}};
  append(dump_json(head), {});
}

void Link::acknowledge(std::uint64_t number) {
  if (number < acknowledged_) return;
  acknowledged_ = number;
  ack_due_ = true;
}

void Link::flush_acknowledgement() {
  if (!ack_due_ || !open_) return;
  ack_due_ = false;
  send_plain(kAck, "\"got\":" + std::to_string(acknowledged_));
}

std::string_view Link::output(std::size_t max) {
  flush_acknowledgement();
  while (open_ && wire_.size() - wire_begin_ < max) {
    const auto message = outbox_.next_unsent();
    if (!message) break;
    append_message(message->method, message->number, message->members, message->payload);
  }
  return std::string_view(wire_).substr(wire_begin_);
}

void Link::wrote(std::size_t n) {
  wire_begin_ += n;
  if (wire_begin_ == wire_.size()) {
    wire_.clear();
  } else if (2 * wire_begin_ >= wire_.size()) {
    wire_.erase(0, wire_begin_);  // a writer that never catches up must not make it grow
  } else {
    return;
  }
  wire_begin_ = 0;
}

std::optional<Incoming> Link::next() {
  while (const auto line = splitter_.next()) {
    auto record = parse_record(*line);
    if (!record) {
      ++dropped_;
      // Something of the peer was lost, a numbered message perhaps. A nack acknowledges as well, so it names
      // what is safe and not what was taken; what comes twice is dropped.
      if (open_ && !gap_reported_) {
        gap_reported_ = true;
        send_plain(kNack, "\"got\":" + std::to_string(acknowledged_));
      }
      continue;
    }
    if (auto incoming = take(std::move(*record))) return incoming;
  }
  return std::nullopt;
}

std::optional<Incoming> Link::take(Record record) {
  Json& head = record.head;
  Incoming incoming;
  if (const auto id = head.find("id"); id != head.end() && id->is_number_integer())
    incoming.request_id = id->get<std::int64_t>();
  if (const auto method = head.find("method"); method != head.end() && method->is_string()) {
    incoming.method = method->get<std::string>();
  }
  if (const auto error = head.find("error"); error != head.end() && error->is_object()) {
    incoming.error = error->value("message", std::string("unknown"));
    incoming.body = error->value("data", Json::object());
  } else {
    const auto body = head.find(incoming.method.empty() ? "result" : "params");
    if (body != head.end()) incoming.body = std::move(*body);
  }
  const auto epoch = incoming.body.is_object() ? number_in(incoming.body, "e") : std::nullopt;
  const bool opening = incoming.method == kAttach || incoming.method == kHello;
  // An attach of a higher epoch is its owner's to judge; every other line must be of the current epoch.
  if (!epoch || (incoming.method != kAttach && *epoch != epoch_) ||
      (incoming.method == kAttach && *epoch < epoch_) || (!open_ && !opening)) {
    ++dropped_;
    return std::nullopt;
  }
  if (incoming.method == kAck || incoming.method == kNack) {
    const auto got = number_in(incoming.body, "got");
    if (got) outbox_.ack(*got);
    if (got && incoming.method == kNack) outbox_.rewind();
    return std::nullopt;
  }
  incoming.number = number_in(incoming.body, "n").value_or(0);
  if (incoming.number > 0 && !take_number(incoming.number)) return std::nullopt;
  incoming.payload = std::move(record.payload);
  return incoming;
}

bool Link::take_number(std::uint64_t number) {
  if (number == taken_ + 1) {
    taken_ = number;
    gap_reported_ = false;
    return true;
  }
  ++dropped_;
  if (number <= taken_) {
    ack_due_ = true;  // the peer sends it again because our acknowledgement was lost
  } else if (!gap_reported_) {
    gap_reported_ = true;
    send_plain(kNack, "\"got\":" + std::to_string(acknowledged_));
  }
  return false;
}

void Link::on_tick(std::int64_t now_ms) {
  gap_reported_ = false;
  if (!open_ || outbox_.size() == 0 || outbox_.has_unsent() || watched_since_ms_ < 0 ||
      outbox_.acknowledged() != watched_ack_) {
    watched_ack_ = outbox_.acknowledged();
    watched_since_ms_ = now_ms;
    return;
  }
  if (now_ms - watched_since_ms_ < kResendAfterMs) return;
  outbox_.rewind();
  watched_since_ms_ = now_ms;
}

}  // namespace mayfly::channel

#include "channel/record.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

#include "base/crc32c.hpp"
#include "channel/cobs.hpp"

namespace mayfly::channel {
namespace {

constexpr std::size_t kCrcDigits = 8;
constexpr std::string_view kHex = "0123456789abcdef";
constexpr JsonLimits kHeadLimits{.bytes = kMaxHeadBytes, .depth = 8, .values = 4096};

std::uint32_t crc_of(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

std::array<char, kCrcDigits> crc_text(std::uint32_t crc) {
  std::array<char, kCrcDigits> digits{};
  for (std::size_t i = 0; i < kCrcDigits; ++i) digits[i] = kHex[(crc >> (28 - 4 * i)) & 15U];
  return digits;
}

}  // namespace

void append_record(std::string& wire, std::string_view head, std::string_view payload) {
  if (head.size() > kMaxHeadBytes || payload.size() > kMaxPayloadBytes) {
    throw std::logic_error("channel record over its bound");
  }
  const std::size_t begin = wire.size();
  wire.append(head);
  if (!payload.empty()) {
    wire.push_back('\0');
    append_cobs(wire, payload);
  }
  const auto digits = crc_text(crc_of(std::string_view(wire).substr(begin)));
  wire.append(digits.data(), digits.size());
  wire.push_back('\n');
}

Result<Record> parse_record(std::string_view line) {
  if (line.size() < kCrcDigits + 2 || line.size() >= kMaxRecordBytes) {
    return fail(ErrorCode::protocol,
                "channel: a line of " + std::to_string(line.size()) + " bytes is no record");
  }
  const std::string_view body = line.substr(0, line.size() - kCrcDigits);
  const auto expected = crc_text(crc_of(body));
  if (line.substr(body.size()) != std::string_view(expected.data(), expected.size())) {
    return fail(ErrorCode::protocol, "channel: a line's CRC is wrong");
  }
  const std::size_t border = body.find('\0');
  auto head = parse_json(body.substr(0, border), kHeadLimits);
  if (!head) return fail(ErrorCode::protocol, "channel: a head is no JSON: " + head.error().message);
  if (!head->is_object()) return fail(ErrorCode::protocol, "channel: a head is no object");
  Record record{.head = std::move(*head), .payload = {}};
  if (border == std::string_view::npos) return record;
  auto payload = decode_cobs(body.substr(border + 1));
  if (!payload || payload->size() > kMaxPayloadBytes)
    return fail(ErrorCode::protocol, "channel: a payload is no COBS");
  record.payload = std::move(*payload);
  return record;
}

void LineSplitter::feed(std::string_view bytes) {
  if (begin_ >= buffer_.size() - begin_) {  // what is moved is never more than what was used up
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<std::string_view> LineSplitter::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      if (buffer_.size() - begin_ >= kMaxRecordBytes) {
        dropping_ = true;
        buffer_.clear();
        begin_ = 0;
      }
      searched_ = buffer_.size();
      return std::nullopt;
    }
    const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = searched_ = end + 1;
    const bool keep = !dropping_ && !line.empty() && line.size() < kMaxRecordBytes;
    dropping_ = false;
    if (keep) return line;
  }
}

void LineSplitter::clear() {
  buffer_.clear();
  begin_ = searched_ = 0;
  dropping_ = false;
}

}  // namespace mayfly::channel

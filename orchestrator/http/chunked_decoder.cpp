#include "http/chunked_decoder.hpp"

#include <algorithm>
#include <charconv>

#include "http/request_head.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kLineBytes = 512;  // a size with its extensions, or one trailer field
constexpr std::size_t kSizeDigits = 15;  // hex; more would be 2^60 and over
constexpr std::size_t kTrailers = 16;

// Extensions mean nothing to us; they only must not hide anything.
bool is_extension(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text.starts_with(';') && is_field_value(text);
}

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::feed(std::string_view input, std::string& body) {
  Step total;
  for (;;) {
    const std::string_view rest = input.substr(total.used);
    const Step step = state_ == State::data ? take_data(rest, body) : feed_line(rest);
    total.used += step.used;
    total.outcome = step.outcome;
    if (step.outcome != Outcome::need_more || step.used == 0) return total;
  }
}

ChunkedDecoder::Step ChunkedDecoder::feed_line(std::string_view input) {
  const std::size_t end = input.find_first_of("\r\n");
  if (std::min(end, input.size()) > kLineBytes) return {.outcome = Outcome::malformed};
  if (end == std::string_view::npos || end + 1 == input.size()) {
    const bool bare_lf = end != std::string_view::npos && input[end] == '\n';
    return {.outcome = bare_lf ? Outcome::malformed : Outcome::need_more};
  }
  if (input[end] != '\r' || input[end + 1] != '\n') return {.outcome = Outcome::malformed};
  const std::string_view line = input.substr(0, end);
  Step step = state_ == State::trailer ? take_trailer(line) : take_size(line);
  step.used = end + 2;
  return step;
}

ChunkedDecoder::Step ChunkedDecoder::take_size(std::string_view line) {
  if (state_ == State::data_end) {
    state_ = State::size_line;
    return {.outcome = line.empty() ? Outcome::need_more : Outcome::malformed};
  }
  const std::size_t digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
  if (digits == 0 || digits > kSizeDigits) return {.outcome = Outcome::malformed};
  if (digits < line.size() && !is_extension(line.substr(digits))) return {.outcome = Outcome::malformed};
  std::from_chars(line.data(), line.data() + digits, left_, 16);
  if (left_ > room_) return {.outcome = Outcome::too_large};
  room_ -= left_;
  state_ = left_ == 0 ? State::trailer : State::data;
  return {};
}

// Trailer fields are checked and dropped: none may change a request after its head was decided on.
ChunkedDecoder::Step ChunkedDecoder::take_trailer(std::string_view line) {
  if (line.empty()) return {.outcome = Outcome::complete};
  const std::size_t colon = line.find(':');
  const bool well_formed = colon != std::string_view::npos && is_token(line.substr(0, colon)) &&
                           is_field_value(line.substr(colon + 1));
  if (!well_formed || ++trailers_ > kTrailers) return {.outcome = Outcome::malformed};
  return {};
}

ChunkedDecoder::Step ChunkedDecoder::take_data(std::string_view input, std::string& body) {
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  body.append(input.substr(0, count));
  left_ -= count;
  if (left_ == 0) state_ = State::data_end;
  return {.outcome = Outcome::need_more, .used = count};
}

}  // namespace mayfly::http

// Takes a chunked request body apart (RFC 9112 section 7.1), strictly and with bounds. Our own, because
// Beast 1.81's parser runs into an assertion when the last chunk arrives byte by byte. Pure; belongs to one
// connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::http {

class ChunkedDecoder {
 public:
  enum class Outcome { need_more, complete, malformed, too_large };
  struct Step {
    Outcome outcome = Outcome::need_more;
    std::size_t used = 0;  // bytes of the input that are dealt with
  };

  // A chunk that would bring the body over `limit` is refused when its size is read, before its data.
  explicit ChunkedDecoder(std::uint64_t limit) : room_(limit) {}
  // Reads from the front of `input` and appends to `body`. What was not used comes again, with more behind
  // it.
  Step feed(std::string_view input, std::string& body);

 private:
  enum class State { size_line, data, data_end, trailer };
  Step feed_line(std::string_view input);
  Step take_size(std::string_view line);
  Step take_trailer(std::string_view line);
  Step take_data(std::string_view input, std::string& body);

  State state_ = State::size_line;
  std::uint64_t room_;      // bytes that the body may still grow
  std::uint64_t left_ = 0;  // of the current chunk
  std::size_t trailers_ = 0;
};

}  // namespace mayfly::http

#include "docker_api/stdcopy_demux.hpp"

#include <catch2/catch.hpp>

#include "fakes/scripted_engine.hpp"

namespace mayfly::docker {
namespace {

using test::stdcopy_frame;

struct Decoded {
  std::string out, err;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Feeds the pieces one after the other, taking at most `most` bytes a step.
Result<Decoded> decode(const std::vector<std::string_view>& pieces, std::size_t most) {
  StdcopyDemux demux;
  Decoded decoded;
  for (const std::string_view piece : pieces) {
    auto rest = bytes_of(piece);
    while (!rest.empty()) {
      const auto step = demux.next(rest, most);
      if (!step) return fail_with(step);
      auto& side = step->stream == OutputStream::out ? decoded.out : decoded.err;
      side.append(reinterpret_cast<const char*>(step->payload.data()), step->payload.size());
      rest = rest.subspan(step->consumed);
    }
  }
  if (auto whole = demux.finish(); !whole) return fail_with(whole);
  return decoded;
}

ErrorCode failure_of(std::string_view stream) {
  const auto decoded = decode({stream}, 1024);
  REQUIRE_FALSE(decoded);
  return decoded.error().code;
}

std::string mixed_stream() {
  return stdcopy_frame(1, "one\n") + stdcopy_frame(2, "two\n") + stdcopy_frame(1, "") +
         stdcopy_frame(0, "three") + stdcopy_frame(2, std::string("\0\xff", 2)) + stdcopy_frame(1, "\n");
}

const Decoded kMixed{"one\nthree\n", std::string("two\n\0\xff", 6)};

TEST_CASE("F05 K07 a stream cut in two at every byte decodes the same") {
  const std::string stream = mixed_stream();
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    const std::string_view whole = stream;
    const auto decoded = decode({whole.substr(0, cut), whole.substr(cut)}, 1024);
    REQUIRE(decoded);
    CHECK(*decoded == kMixed);
  }
}

TEST_CASE("F05 K07 a stream that comes byte by byte and is taken byte by byte decodes the same") {
  const std::string stream = mixed_stream();
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < stream.size(); ++i) pieces.push_back(std::string_view(stream).substr(i, 1));
  CHECK(decode(pieces, 1).value() == kMixed);
  CHECK(decode({stream}, 1).value() == kMixed);
}

TEST_CASE("F05 a frame of 1 MiB decodes whole") {
  const std::string payload(1U << 20U, 'x');
  const std::string stream = stdcopy_frame(2, payload);
  CHECK(decode({stream}, 4096).value() == Decoded{"", payload});
}

TEST_CASE("F05 a stream that ends inside a header or a frame is a protocol error") {
  const std::string stream = stdcopy_frame(1, "abc");
  for (std::size_t end = 1; end < stream.size(); ++end) {
    CAPTURE(end);
    CHECK(failure_of(std::string_view(stream).substr(0, end)) == ErrorCode::protocol);
  }
  CHECK(decode({stream}, 8));
  CHECK(decode({}, 8));
}

TEST_CASE("K07 a frame type other than 0 1 and 2 ends the stream") {
  for (unsigned type = 3; type < 256; ++type)
    CHECK(failure_of(stdcopy_frame(static_cast<unsigned char>(type), "x")) == ErrorCode::protocol);
}

TEST_CASE("K07 header bytes that must be zero and are not end the stream") {
  for (std::size_t at = 1; at < 4; ++at) {
    std::string stream = stdcopy_frame(1, "x");
    stream[at] = 1;
    CHECK(failure_of(stream) == ErrorCode::protocol);
  }
}

TEST_CASE("K07 a frame over 16 MiB ends the stream before anything is read of it") {
  StdcopyDemux demux;
  const std::string longest{1, 0, 0, 0, 1, 0, 0, 0};
  CHECK(demux.next(bytes_of(longest), 1024).value().consumed == 8);
  CHECK(failure_of(std::string{1, 0, 0, 0, 1, 0, 0, 1}) == ErrorCode::protocol);
  CHECK(failure_of(std::string("\x01\0\0\0\xff\xff\xff\xff", 8)) == ErrorCode::protocol);
}

TEST_CASE("K07 after a bad frame nothing more is decoded") {
  StdcopyDemux demux;
  CHECK_FALSE(demux.next(bytes_of(stdcopy_frame(9, "x")), 1024));
  CHECK_FALSE(demux.next(bytes_of(stdcopy_frame(1, "x")), 1024));
  CHECK_FALSE(demux.finish());
}

TEST_CASE("F05 the plain text of a terminal is refused and not shown as frames") {
  CHECK(failure_of("hello from a terminal\r\n") == ErrorCode::protocol);
}

}  // namespace
}  // namespace mayfly::docker

#include "runtime/docker/attach_carrier.hpp"

#include <utility>

#include "base/bytes.hpp"

namespace mayfly::docker {
namespace {

constexpr std::size_t kMostLogged = Bytes(64_KiB).count;  // of one carrier's stderr
constexpr std::size_t kLongestLine = 1024;

}  // namespace

AttachCarrier::AttachCarrier(std::unique_ptr<AttachStream> stream, Logger& log, SandboxId id)
    : stream_(std::move(stream)), log_(log), id_(std::move(id)) {}

Async<std::size_t> AttachCarrier::read_some(std::span<std::byte> into) {
  for (;;) {
    const auto piece = co_await stream_->read(into);
    if (!piece) co_return fail_with(piece);
    if (piece->size == 0 || piece->stream == AttachStream::Stream::out) co_return piece->size;
    log_stderr({reinterpret_cast<const char*>(into.data()), piece->size});
  }
}

Async<> AttachCarrier::write(std::span<const std::byte> data) {
  return stream_->write(data);
}

void AttachCarrier::close() {
  stream_->close();
}

// A healthy runner says nothing there. A broken one must not fill our log.
void AttachCarrier::log_stderr(std::string_view bytes) {
  for (const char c : bytes) {
    if (logged_ >= kMostLogged) return;
    ++logged_;
    const bool ends = c == '\n' || line_.size() >= kLongestLine || logged_ == kMostLogged;
    if (c != '\n') line_ += c;
    if (!ends || line_.empty()) continue;
    log_.warn("runtime",
              logged_ == kMostLogged ? "the runner wrote to stderr; no more of it is logged"
                                     : "the runner wrote to stderr",
              {{"sandbox", id_.str()}, {"text", std::exchange(line_, {})}});
  }
}

}  // namespace mayfly::docker

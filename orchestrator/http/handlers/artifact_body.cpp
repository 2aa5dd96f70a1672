#include "http/handlers/artifact_body.hpp"

#include <algorithm>

namespace mayfly::http {
namespace {

constexpr std::size_t kPieceBytes = 64U << 10U;

class ArtifactBody final : public StreamingBody {
 public:
  ArtifactBody(std::unique_ptr<ArtifactReader> reader, ByteRange range)
      : reader_(std::move(reader)), range_(range) {}

  Async<> write_to(BodyWriter& out) override { co_return co_await copy_artifact(*reader_, range_, out); }

 private:
  std::unique_ptr<ArtifactReader> reader_;
  ByteRange range_;
};

}  // namespace

Async<> copy_artifact(ArtifactReader& reader, ByteRange range, BodyWriter& out) {
  while (range.length != 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(range.length, kPieceBytes));
    auto piece = co_await reader.read(range.first, wanted);
    if (!piece) co_return fail_with(std::move(piece));
    if (piece->empty()) co_return fail(ErrorCode::corrupt, "an artifact is shorter than its entry says");
    range.first += piece->size();
    range.length -= piece->size();
    auto written = co_await out.write(*piece);
    if (!written) co_return written;
  }
  co_return Result<>{};
}

std::unique_ptr<StreamingBody> make_artifact_body(std::unique_ptr<ArtifactReader> reader, ByteRange range) {
  return std::make_unique<ArtifactBody>(std::move(reader), range);
}

}  // namespace mayfly::http

#include "http/handlers/tar_body.hpp"

#include "http/handlers/artifact_body.hpp"
#include "workspace/tar_writer.hpp"

namespace mayfly::http {
namespace {

// Packs what it is given into the entry in hand, and passes the archive's bytes on.
class TarPacker final : public BodyWriter {
 public:
  TarPacker(WallTime at, BodyWriter& out) : tar_(std::chrono::floor<std::chrono::seconds>(at)), out_(out) {}

  Result<> begin(const Artifact& artifact) {
    const TarEntry entry{.path = artifact.path, .size = artifact.size, .mode = artifact.mode};
    return tar_.begin(entry);
  }

  Async<> write(std::string_view piece) override {
    auto packed = tar_.append(piece);
    if (!packed) co_return packed;
    co_return co_await pass_on();
  }

  Async<> finish() {
    auto finished = tar_.finish();
    if (!finished) co_return finished;
    co_return co_await pass_on();
  }

 private:
  Async<> pass_on() {
    const std::string bytes = tar_.take();
    co_return co_await out_.write(bytes);
  }

  TarWriter tar_;
  BodyWriter& out_;
};

class TarBody final : public StreamingBody {
 public:
  TarBody(TaskService& service, TenantId tenant, TaskId id, std::vector<Artifact> artifacts, WallTime at)
      : service_(service),
        tenant_(std::move(tenant)),
        id_(std::move(id)),
        artifacts_(std::move(artifacts)),
        at_(at) {}

  Async<> write_to(BodyWriter& out) override {
    TarPacker packer(at_, out);
    for (const Artifact& artifact : artifacts_) {
      auto packed = co_await pack(artifact, packer);
      if (!packed) co_return packed;
    }
    co_return co_await packer.finish();
  }

 private:
  Async<> pack(const Artifact& artifact, TarPacker& packer) {
    auto reader = co_await service_.open_artifact(tenant_, id_, artifact.path);
    if (!reader) co_return fail_with(std::move(reader));
    auto begun = packer.begin(artifact);
    if (!begun) co_return begun;
    const ByteRange whole{.first = 0, .length = artifact.size.count};
    co_return co_await copy_artifact(**reader, whole, packer);
  }

  TaskService& service_;
  TenantId tenant_;
  TaskId id_;
  std::vector<Artifact> artifacts_;
  WallTime at_;
};

}  // namespace

std::unique_ptr<StreamingBody> make_tar_body(TaskService& service, TenantId tenant, TaskId id,
                                             std::vector<Artifact> artifacts, WallTime at) {
  return std::make_unique<TarBody>(service, std::move(tenant), std::move(id), std::move(artifacts), at);
}

}  // namespace mayfly::http

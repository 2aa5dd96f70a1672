#include "http/handlers/tar_body.hpp"

#include <algorithm>
#include <numeric>

#include "http/handlers/artifact_body.hpp"

namespace mayfly::http {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kEndBytes = 2 * kBlock;  // two blocks of zeros
constexpr std::size_t kNameBytes = 100;
constexpr std::uint64_t kLargestPlainSize = (1ULL << 33U) - 1;  // eleven octal digits

// Fields of the ustar header (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr std::size_t kModeAt = 100, kUidAt = 108, kGidAt = 116, kSizeAt = 124, kTimeAt = 136,
                      kChecksumAt = 148, kTypeAt = 156, kMagicAt = 257;

std::string padding_for(std::uint64_t size) {
  return std::string((kBlock - size % kBlock) % kBlock, '\0');
}

void put_text(std::string& block, std::size_t at, std::string_view text) {
  block.replace(at, text.size(), text);
}

// `digits` octal digits; the NUL behind them is there already.
void put_octal(std::string& block, std::size_t at, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 3U) block[at + i] = static_cast<char>('0' + (value & 7U));
}

std::string format_block(std::string_view name, char type, std::uint64_t size, std::uint32_t mode,
                         WallTime at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  std::string block(kBlock, '\0');
  put_text(block, 0, name.substr(0, kNameBytes));
  put_octal(block, kModeAt, 7, mode & 0777U);
  put_octal(block, kUidAt, 7, 0);
  put_octal(block, kGidAt, 7, 0);
  put_octal(block, kSizeAt, 11, std::min(size, kLargestPlainSize));
  put_octal(block, kTimeAt, 11, static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)));
  block[kTypeAt] = type;
  put_text(block, kMagicAt, std::string_view("ustar\00000", 8));
  put_text(block, kChecksumAt, "        ");  // counts as spaces in its own sum
  const auto add = [](unsigned sum, char c) { return sum + static_cast<unsigned char>(c); };
  put_octal(block, kChecksumAt, 6, std::accumulate(block.begin(), block.end(), 0U, add));
  block[kChecksumAt + 6] = '\0';
  return block;
}

// "LENGTH key=value\n", where the length counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // space, '=' and newline
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + ' ' + std::string(key) + '=' + std::string(value) + '\n';
}

bool fits_plain_name(std::string_view path) {
  return path.size() <= kNameBytes &&
         std::all_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string pax_records(const Artifact& artifact) {
  std::string records;
  if (!fits_plain_name(artifact.path)) records += pax_record("path", artifact.path);
  if (artifact.size.count > kLargestPlainSize)
    records += pax_record("size", std::to_string(artifact.size.count));
  return records;
}

class TarStream final : public StreamingBody {
 public:
  TarStream(TaskService& service, TenantId tenant, TaskId id, std::vector<Artifact> artifacts, WallTime at)
      : service_(service),
        tenant_(std::move(tenant)),
        id_(std::move(id)),
        artifacts_(std::move(artifacts)),
        at_(at) {}

  Async<> write_to(BodyWriter& out) override {
    for (const Artifact& artifact : artifacts_) {
      auto written = co_await write_entry(artifact, out);
      if (!written) co_return written;
    }
    const std::string end(kEndBytes, '\0');
    co_return co_await out.write(end);
  }

 private:
  Async<> write_entry(const Artifact& artifact, BodyWriter& out) {
    auto reader = co_await service_.open_artifact(tenant_, id_, artifact.path);
    if (!reader) co_return fail_with(std::move(reader));
    const std::string header = format_tar_header(artifact, at_);
    auto written = co_await out.write(header);
    if (!written) co_return written;
    const ByteRange whole{.first = 0, .length = artifact.size.count};
    auto copied = co_await copy_artifact(**reader, whole, out);
    if (!copied) co_return copied;
    const std::string padding = padding_for(artifact.size.count);
    co_return co_await out.write(padding);
  }

  TaskService& service_;
  TenantId tenant_;
  TaskId id_;
  std::vector<Artifact> artifacts_;
  WallTime at_;
};

}  // namespace

std::string format_tar_header(const Artifact& artifact, WallTime at) {
  std::string header;
  if (const std::string records = pax_records(artifact); !records.empty()) {
    header =
        format_block("pax_header", 'x', records.size(), 0644, at) + records + padding_for(records.size());
  }
  return header + format_block(artifact.path, '0', artifact.size.count, artifact.mode, at);
}

TarBody make_tar_body(TaskService& service, TenantId tenant, TaskId id, std::vector<Artifact> artifacts,
                      WallTime at) {
  TarBody tar;
  tar.length = kEndBytes;
  for (const Artifact& artifact : artifacts) {
    const std::uint64_t size = artifact.size.count;
    tar.length += format_tar_header(artifact, at).size() + size + padding_for(size).size();
  }
  tar.body = std::make_unique<TarStream>(service, std::move(tenant), std::move(id), std::move(artifacts), at);
  return tar;
}

}  // namespace mayfly::http

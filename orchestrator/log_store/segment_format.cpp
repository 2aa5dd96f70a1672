#include "log_store/segment_format.hpp"

#include <algorithm>
#include <string_view>

#include "base/crc32c.hpp"

namespace mayfly::segment {
namespace {

constexpr std::string_view kMagic = "MAYFLOG\n";
constexpr std::uint32_t kVersion = 1;

// Places in the record header. Its own checksum covers all behind it.
constexpr std::size_t kHeaderCrcAt = 0, kDataCrcAt = 4, kLengthAt = 8, kKindAt = 12, kNumberAt = 16,
                      kTimeAt = 24, kOffsetAt = 32;

std::uint32_t header_crc(std::span<const std::byte> bytes) {
  return crc32c(bytes.first(kRecordHeaderBytes).subspan(kDataCrcAt));
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(bytes[at + i]) << (8 * i)));
  }
  return value;
}

bool is_kind(std::uint32_t value) {
  return value >= static_cast<std::uint32_t>(LogKind::out) &&
         value <= static_cast<std::uint32_t>(LogKind::gap);
}

}  // namespace

FileHeader encode_file_header(std::uint32_t attempt) {
  FileHeader header{};
  std::ranges::copy(std::as_bytes(std::span(kMagic)), header.begin());
  put(header, 8, kVersion);
  put(header, 12, attempt);
  return header;
}

Result<> check_file_header(std::span<const std::byte> bytes, std::uint32_t attempt) {
  const auto wanted = encode_file_header(attempt);
  if (bytes.size() >= wanted.size() && std::ranges::equal(bytes.first(wanted.size()), wanted)) return {};
  return fail(ErrorCode::corrupt,
              "the file does not begin as the log segment of attempt " + std::to_string(attempt));
}

RecordHeaderBytes encode_record_header(const LogRecord& record) {
  RecordHeaderBytes header{};
  put(header, kDataCrcAt, crc32c(std::as_bytes(std::span(record.data))));
  put(header, kLengthAt, static_cast<std::uint32_t>(record.data.size()));
  put(header, kKindAt, static_cast<std::uint32_t>(record.kind));
  put(header, kNumberAt, record.number);
  put(header, kTimeAt, static_cast<std::uint64_t>(record.at.time_since_epoch().count()));
  put(header, kOffsetAt, record.offset);
  put(header, kHeaderCrcAt, header_crc(header));
  return header;
}

std::optional<RecordHeader> find_record_header(std::span<const std::byte> bytes) {
  if (get<std::uint32_t>(bytes, kHeaderCrcAt) != header_crc(bytes)) return std::nullopt;
  const auto kind = get<std::uint32_t>(bytes, kKindAt);
  const auto length = get<std::uint32_t>(bytes, kLengthAt);
  if (!is_kind(kind) || length > kMaxDataBytes) return std::nullopt;
  return RecordHeader{
      .data_crc = get<std::uint32_t>(bytes, kDataCrcAt),
      .length = length,
      .kind = static_cast<LogKind>(kind),
      .number = get<std::uint64_t>(bytes, kNumberAt),
      .at = WallTime(Millis(static_cast<std::int64_t>(get<std::uint64_t>(bytes, kTimeAt)))),
      .offset = get<std::uint64_t>(bytes, kOffsetAt),
  };
}

bool data_matches(const RecordHeader& header, std::span<const std::byte> data) {
  return crc32c(data) == header.data_crc;
}

void StreamEnds::take(LogKind kind, std::uint64_t offset, std::uint64_t size) {
  if (kind != LogKind::out && kind != LogKind::err) return;
  std::uint64_t& end = kind == LogKind::out ? out : err;
  holes = holes || offset > end;
  end = std::max(end, offset + size);
}

}  // namespace mayfly::segment

// Size, and a disk that is full.
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "base/digest.hpp"
#include "log_fixture.hpp"
#include "support/small_disk.hpp"

namespace mayfly {
namespace {

using namespace test;

// Bytes without a newline that differ from place to place.
std::string make_piece(std::size_t i) {
  std::string piece(kPiece, '\0');
  for (std::size_t k = 0; k < piece.size(); ++k)
    piece[k] = static_cast<char>('a' + (i * 31 + k * 7 + k / 100) % 26);
  return piece;
}

TEST_CASE_METHOD(LogFixture, "F02 log brings a line of 100 MB back byte for byte while it is being written") {
  constexpr std::size_t kPieces = 100'000'000 / kPiece + 1;
  const auto to = writer();
  const auto from = reader(LogStream::out);
  Script script;
  Sha256 written, read;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < kPieces; i += 8) {
    std::vector<LogRecord> records;
    for (std::size_t k = i; k < std::min(i + 8, kPieces); ++k) records.push_back(script.out(make_piece(k)));
    for (const LogRecord& record : records) written.update(record.data);
    REQUIRE(append(*to, std::move(records)).has_value());
    const auto more = await(from->next(200'000, Deadline::never()));
    for (const LogRecord& record : *more) read.update(record.data), size += record.data.size();
  }
  while (size < kPieces * kPiece) {
    const auto more = await(from->next(1U << 20U, Deadline::never()));
    REQUIRE(more.has_value());
    for (const LogRecord& record : *more) read.update(record.data), size += record.data.size();
  }
  CHECK(size == kPieces * kPiece);
  CHECK(read.hex() == written.hex());
  const auto tail = read_all(*reader(LogStream::out, size - 10, 0), 1000, size - 10);
  CHECK(tail.out == make_piece(kPieces - 1).substr(kPiece - 10));
}

TEST_CASE("F31 log append on a full disk leaves whole records and says so and goes on when there is room") {
  const bool ran = on_small_disk(2_MiB, [](const std::filesystem::path& disk) {
    LogFixture fixture(disk);
    const auto to = fixture.writer();
    const auto filler = fill_disk(disk, 300_KiB);
    Script script;
    std::string expected;
    std::vector<LogRecord> refused;
    for (std::size_t i = 0; i < 100 && refused.empty(); ++i) {
      std::vector<LogRecord> records{script.out(make_piece(i)), script.out("tail\n")};
      const auto done = fixture.append(*to, records);
      if (done) {
        expected += records[0].data + records[1].data;
      } else {
        CHECK(done.error().code == ErrorCode::disk_full);
        refused = std::move(records);
      }
    }
    REQUIRE_FALSE(refused.empty());
    CHECK_FALSE(expected.empty());
    CHECK(fixture.read_all(*fixture.reader()).out == expected);
    CHECK(fixture.await(fixture.logs->total_size())->count == std::filesystem::file_size(fixture.segment()));
    CHECK(to->last_number() + 1 == refused[0].number);

    std::filesystem::remove(filler);
    REQUIRE(fixture.append(*to, refused).has_value());
    expected += refused[0].data + refused[1].data;
    CHECK(fixture.read_all(*fixture.reader()).out == expected);
  });
  if (!ran) WARN("not run: mounting a tmpfs takes root");
}

// Holds for the process, so also for the pool's threads.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    must(getrlimit(RLIMIT_FSIZE, &before_), "getrlimit");
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    must(setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE_METHOD(LogFixture, "F31 log append that fails in the middle of a record can be repeated") {
  const auto to = writer();
  Script script;
  REQUIRE(append(*to, {script.out("kept ")}).has_value());
  const std::vector<LogRecord> big{script.out("small "), script.out(std::string(kPiece, 'x'))};
  {
    const FileSizeLimit limit(10'000);
    CHECK(code_of(append(*to, big)) == ErrorCode::io);
    CHECK(std::filesystem::file_size(segment()) < 1000);
  }
  CHECK(to->last_number() == 1);
  CHECK(read_all(*reader()).out == "kept ");
  REQUIRE(append(*to, big).has_value());
  CHECK(read_all(*reader()).out == "kept small " + std::string(kPiece, 'x'));
  CHECK(await(to->append({script.out("!")}, LogDurability::disk)).has_value());
  CHECK(await(to->sync()).has_value());
  CHECK(await(logs->total_size())->count == std::filesystem::file_size(segment()));
}

TEST_CASE_METHOD(LogFixture, "log append takes more records than one system call can") {
  const auto to = writer();
  Script script;
  std::vector<LogRecord> records;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    records.push_back(script.out(std::to_string(i) + "\n"));
    expected += records.back().data;
  }
  REQUIRE(append(*to, std::move(records)).has_value());
  CHECK(read_all(*reader(), 1000).out == expected);
}

}  // namespace
}  // namespace mayfly

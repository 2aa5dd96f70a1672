#include "workspace/tar_writer.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "support/temp_dir.hpp"

namespace mayfly {
namespace {

using test::TempDir;

constexpr std::chrono::sys_seconds kTime{std::chrono::seconds(1'700'000'000)};

struct Member {
  std::string path, content;
  unsigned mode = 0;
  long uid = -1, mtime = 0;
  unsigned type = 0;
};

std::vector<Member> read_tar(const std::string& bytes) {
  std::vector<Member> members;
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(reader.get());
  archive_read_open_memory(reader.get(), bytes.data(), bytes.size());
  archive_entry* entry = nullptr;
  for (;;) {
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) return members;
    if (code < ARCHIVE_WARN) throw std::runtime_error(archive_error_string(reader.get()));
    Member member{.path = archive_entry_pathname(entry),
                  .content = std::string(static_cast<std::size_t>(archive_entry_size(entry)), '\0'),
                  .mode = archive_entry_perm(entry),
                  .uid = archive_entry_uid(entry) + archive_entry_gid(entry),
                  .mtime = archive_entry_mtime(entry),
                  .type = archive_entry_filetype(entry)};
    const auto got = archive_read_data(reader.get(), member.content.data(), member.content.size());
    if (got != static_cast<la_ssize_t>(member.content.size())) throw std::runtime_error("short member");
    members.push_back(std::move(member));
  }
}

void add(TarWriter& tar, const std::string& path, const std::string& content, std::uint32_t mode = 0644) {
  REQUIRE(tar.begin({.path = path, .size = Bytes{content.size()}, .mode = mode}).has_value());
  REQUIRE(tar.append(content).has_value());
}

const std::vector<std::string> kNames{"plain.txt",
                                      "a\nb",
                                      "caf\xc3\xa9.txt",
                                      "broken\xff\xfe",
                                      std::string(255, 'x') + "/" + std::string(255, 'y') + "/" +
                                          std::string(255, 'z') + "/" + std::string(250, 'w'),
                                      "q\"uote %2f <svg>",
                                      "sp ace/-rf/*",
                                      std::string(50, 'd') + "/" + std::string(60, '\xc3')};

std::string make_tar() {
  TarWriter tar(kTime);
  std::string bytes;
  for (const auto& name : kNames) {
    add(tar, name, "content of " + name, 0755);
    bytes += tar.take();
  }
  REQUIRE(tar.finish().has_value());
  return bytes + tar.take();
}

TEST_CASE("P06 F47 tar brings every name and content back through libarchive") {
  const auto members = read_tar(make_tar());
  REQUIRE(members.size() == kNames.size());
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    CHECK(members[i].path == kNames[i]);
    CHECK(members[i].content == "content of " + kNames[i]);
    CHECK(members[i].mode == 0755);
    CHECK(members[i].uid == 0);
    CHECK(members[i].mtime == 1'700'000'000);
    CHECK(members[i].type == AE_IFREG);
  }
  CHECK(make_tar() == make_tar());
}

TEST_CASE("P06 F47 tar is unpacked by the tar program with the same names") {
  const TempDir dir;
  const std::string file = (dir.path() / "a.tar").string();
  const auto out = dir.path() / "out";
  std::filesystem::create_directory(out);
  std::ofstream(file, std::ios::binary) << make_tar();
  REQUIRE(std::system(("tar -C " + out.string() + " -xf " + file + " 2>/dev/null").c_str()) == 0);
  for (const auto& name : kNames) {
    CAPTURE(name);
    std::ifstream member(out / name, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(member), {}};
    CHECK(content == "content of " + name);
  }
}

TEST_CASE("tar of ASCII and UTF-8 names needs no extension that a program would warn of") {
  TarWriter tar(kTime);
  add(tar, "plain.txt", "x");
  add(tar, "caf\xc3\xa9.txt", "x");
  REQUIRE(tar.finish().has_value());
  CHECK(tar.take().find("hdrcharset") == std::string::npos);
}

// Also that an archive may be given up in the middle of it: padding it out would take the memory of the whole
// member.
TEST_CASE("F47 tar says the true size of a member over 8 GiB") {
  TarWriter tar(kTime);
  const std::uint64_t size = 9ULL << 30U;
  REQUIRE(tar.begin({.path = "big", .size = Bytes{size}}).has_value());
  REQUIRE(tar.append("x").has_value());
  const std::string head = tar.take();
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(reader.get());
  archive_read_open_memory(reader.get(), head.data(), head.size());
  archive_entry* entry = nullptr;
  REQUIRE(archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK);
  CHECK(archive_entry_size(entry) == static_cast<la_int64_t>(size));
}

TEST_CASE("tar comes out as it is written and holds nothing back") {
  TarWriter tar(kTime);
  REQUIRE(tar.begin({.path = "a", .size = Bytes{3000}}).has_value());
  CHECK(tar.take().size() == 512);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(tar.append(std::string(1000, 'x')).has_value());
    CHECK(tar.take().size() == 1000);
  }
  REQUIRE(tar.finish().has_value());
  CHECK(tar.take().size() == 72 + 1024);  // up to the next block, and two empty ones
}

TEST_CASE("tar refuses more and less content than the entry says") {
  TarWriter tar(kTime);
  REQUIRE(tar.begin({.path = "a", .size = Bytes{3}}).has_value());
  CHECK_FALSE(tar.append("1234").has_value());
  REQUIRE(tar.append("12").has_value());
  CHECK_FALSE(tar.begin({.path = "b", .size = Bytes{0}}).has_value());
  CHECK_FALSE(tar.finish().has_value());
  REQUIRE(tar.append("3").has_value());
  CHECK(tar.finish().has_value());
}

TEST_CASE("tar without members is an empty archive") {
  TarWriter tar(kTime);
  REQUIRE(tar.finish().has_value());
  CHECK(read_tar(tar.take()).empty());
}

}  // namespace
}  // namespace mayfly

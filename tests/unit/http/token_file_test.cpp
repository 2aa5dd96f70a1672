#include "http/token_file.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "support/temp_dir.hpp"

using namespace mayfly;
using mayfly::http::load_or_make_token;

namespace {

void write(const std::filesystem::path& file, std::string_view text, mode_t mode) {
  std::ofstream(file) << text;
  ::chmod(file.c_str(), mode);
}

const std::string kToken(40, 't');

}  // namespace

TEST_CASE("the first start makes a token that later starts read") {
  const test::TempDir dir;
  const auto file = dir.path() / "token";
  const auto made = load_or_make_token(file);
  REQUIRE(made);
  CHECK(made->size() == 4 + 64);
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);
  CHECK(load_or_make_token(file).value() == *made);
  CHECK(load_or_make_token(dir.path() / "other").value() != *made);
}

TEST_CASE("S06 a token file that others could read or write is refused") {
  const test::TempDir dir;
  for (const mode_t mode : {0644, 0640, 0660, 0604, 0602, 0610, 0700}) {
    const auto file = dir.path() / std::to_string(mode);
    write(file, kToken, mode);
    const auto token = load_or_make_token(file);
    INFO(mode);
    REQUIRE_FALSE(token);
    CHECK(token.error().code == ErrorCode::forbidden);
    CHECK(token.error().message.find(kToken) == std::string::npos);
  }
  write(dir.path() / "readonly", kToken, 0400);
  CHECK(load_or_make_token(dir.path() / "readonly").value() == kToken);
}

TEST_CASE("S06 a token file that is a link or no file is refused") {
  const test::TempDir dir;
  write(dir.path() / "real", kToken, 0600);
  std::filesystem::create_symlink(dir.path() / "real", dir.path() / "link");
  std::filesystem::create_symlink(dir.path() / "nowhere", dir.path() / "dangling");
  std::filesystem::create_directory(dir.path() / "dir");
  REQUIRE(::mkfifo((dir.path() / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"link", "dangling", "dir", "fifo"}) {
    INFO(name);
    CHECK(load_or_make_token(dir.path() / name).error().code == ErrorCode::forbidden);
  }
  CHECK_FALSE(std::filesystem::exists(dir.path() / "nowhere"));
}

TEST_CASE("a token that is too short or too long or has odd characters is refused") {
  const test::TempDir dir;
  int number = 0;
  for (const std::string& text :
       {std::string(), std::string("short\n"), std::string(600, 't'), kToken + " x", kToken + "\r\n"}) {
    const auto file = dir.path() / std::to_string(number++);
    write(file, text, 0600);
    CHECK_FALSE(load_or_make_token(file));
  }
}

#include "task/workspace_path.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace mayfly;

TEST_CASE("a workspace path may be any relative name that Linux knows") {
  const std::string right[] = {
      "a",   "a/b/c.txt", "with space", "a\nb", "\xff\xfe",           "日本語", "..a", "a..",
      "...", ".hidden",   "C:\\x",      "-rf",  std::string(255, 'x')};
  for (const auto& path : right) {
    INFO(path);
    CHECK(check_workspace_path(path));
  }
}

TEST_CASE("a workspace path that leaves the workspace or is no clean name is refused") {
  const std::string wrong[] = {"",
                               "/",
                               "/etc/passwd",
                               "..",
                               "../x",
                               "a/../b",
                               "a/..",
                               ".",
                               "./a",
                               "a/./b",
                               "a//b",
                               "a/",
                               "//",
                               std::string("a\0b", 3),
                               std::string(256, 'x'),
                               "a/" + std::string(256, 'x')};
  for (const auto& path : wrong) {
    INFO(path);
    const auto checked = check_workspace_path(path);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a workspace path has at most 1024 bytes") {
  std::string path;
  while (path.size() < 1022) path += "a/";
  CHECK(path.size() == 1022);
  CHECK(check_workspace_path(path + "bb"));
  CHECK_FALSE(check_workspace_path(path + "bbb"));
}

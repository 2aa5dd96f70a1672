#include "task/image_reference.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace mayfly;

namespace {
const std::string kHex(64, 'a');
}

TEST_CASE("image references of every usual form are accepted") {
  const std::string right[] = {"python",
                               "python:3.12",
                               "mayfly-test/busybox:1",
                               "library/a.b_c__d---e",
                               "registry.example.com/team/tool:v1.2-rc.1",
                               "localhost/tool",
                               "localhost:5000/tool",
                               "127.0.0.1:5000/a/b:latest",
                               "Registry.Example.com/tool",
                               "host:5000/path/name@sha256:" + kHex,
                               "name:tag@sha256:" + kHex,
                               "sha256:" + kHex,
                               "a:" + std::string(128, 't')};
  for (const auto& reference : right) {
    INFO(reference);
    CHECK(check_image_reference(reference));
  }
}

TEST_CASE("V06 image references that break the grammar are refused") {
  const std::string wrong[] = {"",
                               "../etc",
                               "a/../b",
                               "./a",
                               "/a",
                               "a/",
                               "a//b",
                               "http://example.com/a",
                               "docker://python",
                               "-v",
                               "-v/etc:/etc",
                               "--privileged",
                               "Python",
                               "library/Python",
                               "Library/python",
                               "py thon",
                               "python\n",
                               "pythön",
                               "питон",
                               std::string("a\0b", 3),
                               "a:",
                               "a:-x",
                               "a:.x",
                               "a:b:c",
                               "a:t/b",
                               "a:" + std::string(129, 't'),
                               "a@",
                               "a@sha256:",
                               "a@sha256:" + std::string(63, 'a'),
                               "a@sha256:" + std::string(65, 'a'),
                               "a@sha256:" + std::string(64, 'A'),
                               "a@md5:" + std::string(32, 'a'),
                               "a@@sha256:" + kHex,
                               "sha256:" + std::string(64, 'g') + "/a",
                               kHex,
                               "host:port/a",
                               "host:123456/a",
                               "-host.com/a",
                               "host-.com/a",
                               "host..com/a",
                               "a_-b",
                               "a___b",
                               "a..b",
                               "_a",
                               "a-",
                               "a?b=c",
                               "a%2fb",
                               "a;b",
                               "a\\b",
                               "[::1]:5000/a"};
  for (const auto& reference : wrong) {
    INFO(reference);
    const auto checked = check_image_reference(reference);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_argument);
    CHECK_FALSE(checked.error().message.empty());
  }
}

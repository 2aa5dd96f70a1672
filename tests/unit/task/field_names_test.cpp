#include "task/field_names.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace mayfly;
using namespace std::string_view_literals;

TEST_CASE("a pointer escapes slash and tilde as RFC 6901 says") {
  CHECK(pointer_to("", "limits") == "/limits");
  CHECK(pointer_to("/labels", "a/b~c") == "/labels/a~1b~0c");
  CHECK(pointer_to("", "") == "/");
}

TEST_CASE("a very long key does not make a very long pointer") {
  CHECK(pointer_to("", std::string(1'000'000, 'k')).size() < 200);
}

TEST_CASE("a slip of the pen finds the name that was meant") {
  constexpr std::array names = {"cpus"sv, "memory"sv, "working_dir"sv, "tmp"sv, "shm"sv, "timeouts"sv};
  CHECK(find_similar("cpu", names) == "cpus"sv);
  CHECK(find_similar("memroy", names) == "memory"sv);
  CHECK(find_similar("mem", names) == "memory"sv);
  CHECK(find_similar("memory_mb", names) == "memory"sv);
  CHECK(find_similar("WorkingDir", names) == "working_dir"sv);
  CHECK(find_similar("Memory", names) == "memory"sv);
  CHECK(find_similar("timeout", names) == "timeouts"sv);
}

TEST_CASE("a name that is near to nothing is given no advice") {
  constexpr std::array names = {"cpus"sv, "memory"sv, "tmp"sv};
  CHECK_FALSE(find_similar("tenant", names));
  CHECK_FALSE(find_similar("", names));
  CHECK_FALSE(find_similar("xyz", names));
  CHECK_FALSE(find_similar(std::string(100'000, 'm'), names));
}

TEST_CASE("long text is cut between characters and not inside one") {
  CHECK(shorten_text("short", 10) == "short");
  CHECK(shorten_text("abcdef", 3) == "abc…");
  CHECK(shorten_text("aé", 2) == "a…");
  CHECK(shorten_text("\x80\x80\x80", 2) == "…");
}

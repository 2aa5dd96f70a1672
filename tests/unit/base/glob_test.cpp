#include "base/glob.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace mayfly {
namespace {

using Catch::Matchers::Contains;

struct Case {
  std::string_view pattern;
  std::vector<std::string_view> matching;
  std::vector<std::string_view> other;
};

void check_all(const std::vector<Case>& cases) {
  for (const auto& [pattern, matching, other] : cases) {
    CAPTURE(pattern);
    REQUIRE(check_glob(pattern));
    for (const auto path : matching) {
      CAPTURE(path);
      CHECK(glob_matches(pattern, path));
    }
    for (const auto path : other) {
      CAPTURE(path);
      CHECK_FALSE(glob_matches(pattern, path));
    }
  }
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST_CASE("a glob without special characters matches exactly one path") {
  check_all({{"a", {"a"}, {"", "b", "aa", "A", "a/b", "b/a"}},
             {"out/result.json",
              {"out/result.json"},
              {"out", "out/result_json", "out/result.json/x", "x/out/result.json"}},
             {"{a,b}", {"{a,b}"}, {"a", "b"}},
             {"a+(b)|$^", {"a+(b)|$^"}, {"ab"}},
             {"é", {"é"}, {"e"}}});
}

TEST_CASE("stars and question marks stay within one part") {
  check_all({{"*", {"a", "abc", ".hidden", "a b"}, {"a/b", ""}},
             {"*.txt", {"a.txt", ".txt", "a.b.txt"}, {"a.txt2", "txt", "d/a.txt"}},
             {"a*b*c", {"abc", "axxbyyc", "abcbc"}, {"ab", "acb", "abcd", "a/b/c"}},
             {"?", {"a", "é", "😀", "\xFF"}, {"", "ab", "/"}},
             {"a?c", {"abc", "a.c"}, {"ac", "abbc", "a/c"}},
             {"?*", {"a", "ab"}, {""}},
             {"*/*", {"a/b", "x/y.z"}, {"a", "a/b/c"}},
             {"a/*/c", {"a/b/c"}, {"a/c", "a/b/b/c"}},
             {"*a", {"a", "aa", "ba", "aba"}, {"ab", "b"}}});
}

TEST_CASE("two stars as a part stand for any number of parts") {
  check_all({{"**", {"a", "a/b", "a/b/c"}, {}},
             {"out/**", {"out", "out/a", "out/a/b/c"}, {"outer/a", "x/out/a", "ou"}},
             {"**/x", {"x", "a/x", "a/b/x", "x/x"}, {"a", "x/a", "a/xx"}},
             {"a/**/b", {"a/b", "a/x/b", "a/x/y/b", "a/b/b"}, {"a", "b", "a/b/c", "x/a/b"}},
             {"**/a/**/b", {"a/b", "x/a/b", "a/a/b", "x/a/y/b", "a/b/a/b"}, {"a", "b/a", "a/b/c"}},
             {"**/*.py", {"a.py", "p/q/a.py"}, {"a.pyc", "a.py/b"}},
             {"**/**", {"a", "a/b"}, {}},
             {"a/**/b/**/c", {"a/b/c", "a/x/b/y/c", "a/b/b/c/c"}, {"a/c/b", "a/b/c/d"}}});
}

TEST_CASE("brackets stand for one character") {
  check_all({{"[abc]", {"a", "b", "c"}, {"d", "ab", ""}},
             {"[a-z]", {"a", "m", "z"}, {"A", "0", "-"}},
             {"[a-c1-3_]x", {"ax", "2x", "_x"}, {"dx", "4x"}},
             {"[!a-z]", {"A", "0", "é"}, {"a", "q", ""}},
             {"[!a]", {"b", "\xFF", "!"}, {"a", "bb"}},
             {"[-a]", {"-", "a"}, {"b"}},
             {"[a-]", {"-", "a"}, {"b"}},
             {"[\\]]", {"]"}, {"\\", "["}},
             {"[\\!a]", {"!", "a"}, {"b"}},
             {"[a\\-z]", {"a", "-", "z"}, {"b", "m"}},
             {"[\\^]", {"^"}, {"a"}},
             {"[*?]", {"*", "?"}, {"a"}},
             {"[à-ÿ]", {"é"}, {"e"}},
             {"[!!]", {"a"}, {"!"}},
             {"f[0-9][0-9]*", {"f12", "f00.txt"}, {"f1", "fab"}}});
}

TEST_CASE("a backslash takes the next character as it is") {
  check_all({{"\\*", {"*"}, {"a", "\\*"}},
             {"a\\?b", {"a?b"}, {"axb"}},
             {"\\[a]", {"[a]"}, {"a"}},
             {"\\\\", {"\\"}, {"a"}},
             {"\\*\\*", {"**"}, {"a", "a/b"}},
             {"\\a", {"a"}, {"\\a"}},
             {"x]", {"x]"}, {"x"}}});
}

TEST_CASE("check_glob refuses a pattern that could mislead and says why") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {"/", "an empty part"},
      {"/etc/passwd", "an empty part"},
      {"a//b", "an empty part"},
      {"a/", "an empty part"},
      {".", "a part . or .."},
      {"..", "a part . or .."},
      {"a/../b", "a part . or .."},
      {"./a", "a part . or .."},
      {"a**", "whole parts"},
      {"**a", "whole parts"},
      {"a/***/b", "whole parts"},
      {"[a", "without its ]"},
      {"[a/b]", "without its ]"},
      {"[\\]", "without its ]"},
      {"[]", "empty brackets"},
      {"[]a]", "empty brackets"},
      {"[!]", "empty brackets"},
      {"[^a]", "write [!"},
      {"[z-a]", "range"},
      {"a\\", "at the end of a part"},
      {"a\\/b", "at the end of a part"},
      {"\xFF", "UTF-8"},
      {std::string("a\0b", 3), "zero byte"},
      {std::string(1025, 'a'), "1024 bytes"},
      {repeated("a/", 32) + "a", "32 parts"},
  };
  for (const auto& [pattern, why] : cases) {
    CAPTURE(pattern);
    const auto checked = check_glob(pattern);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(checked.error().message, Contains(why));
  }
  CHECK(check_glob(std::string(1024, 'a')));
  CHECK(check_glob(repeated("a/", 31) + "a"));
}

TEST_CASE("V09 pathological patterns against long names end") {
  // A matcher that tries every star again would need longer than the universe has for each of these.
  const std::string name(50'000, 'a');
  const std::string stars = repeated("*a", 500);
  CHECK(glob_matches(stars, name));
  CHECK_FALSE(glob_matches(stars + "b", name));
  CHECK_FALSE(glob_matches(repeated("a*", 500) + "b", name));
  CHECK_FALSE(glob_matches(repeated("*?", 400) + "b", name));
  CHECK_FALSE(glob_matches(repeated("*[ab]", 200) + "c", name));
  CHECK_FALSE(glob_matches("*" + std::string(100, 'a') + "b", name));  // as slow as it gets: pattern × name
  CHECK_FALSE(glob_matches("(a+)+$", name));
  CHECK(check_glob(stars + "b"));
}

TEST_CASE("V09 pathological patterns against deep paths end") {
  const std::string path = repeated("a/", 25'000) + "a";
  CHECK(glob_matches(repeated("**/a/", 15) + "a", path));
  CHECK_FALSE(glob_matches(repeated("**/a/", 15) + "b", path));
  CHECK_FALSE(glob_matches(repeated("**/*a*/", 15) + "b", path));
  CHECK_FALSE(glob_matches(repeated("**/", 31) + "b", path));
}

TEST_CASE("glob_matches refuses a malformed pattern instead of misreading it") {
  for (const auto* const pattern : {"[a", "[]", "a\\", "[z-a]"}) {
    CAPTURE(pattern);
    CHECK_FALSE(glob_matches(pattern, "a"));
    CHECK_FALSE(glob_matches(pattern, "["));
  }
}

TEST_CASE("glob_may_match_under tells which directories are worth a look") {
  struct UnderCase {
    std::string_view pattern;
    std::vector<std::string_view> yes;
    std::vector<std::string_view> no;
  };
  const std::vector<UnderCase> cases = {
      {"a", {""}, {"a", "b"}},
      {"out/*.txt", {"", "out"}, {"out/x", "other", "out/x.txt"}},
      {"out/**", {"", "out", "out/a", "out/a/b"}, {"outer", "x"}},
      {"**/x", {"", "a", "a/b/c", "x"}, {}},
      {"a*/b/c", {"", "a", "abc", "a/b"}, {"b", "a/c", "a/b/c"}},
      {"a/**/b", {"", "a", "a/x", "a/b"}, {"b", "x/a"}},
  };
  for (const auto& [pattern, yes, no] : cases) {
    CAPTURE(pattern);
    for (const auto dir : yes) {
      CAPTURE(dir);
      CHECK(glob_may_match_under(pattern, dir));
    }
    for (const auto dir : no) {
      CAPTURE(dir);
      CHECK_FALSE(glob_may_match_under(pattern, dir));
    }
  }
}

// A second, obvious matcher over a small alphabet: by its definition, with recursion.
bool matches_by_definition(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches_by_definition(pattern.substr(1), name) ||
           (!name.empty() && matches_by_definition(pattern, name.substr(1)));
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matches_by_definition(pattern.substr(1), name.substr(1));
}

std::string word(std::size_t number, std::string_view alphabet, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i, number /= alphabet.size())
    text += alphabet[number % alphabet.size()];
  return text;
}

TEST_CASE("glob_matches agrees with the definition for all short patterns and names") {
  constexpr std::string_view kPatternAlphabet = "ab*?";
  for (std::size_t p = 0; p < std::size_t{4} * 4 * 4 * 4; ++p) {
    const std::string pattern = word(p, kPatternAlphabet, 4);
    if (!check_glob(pattern)) continue;
    for (std::size_t length = 1; length <= 6; ++length) {
      for (std::size_t n = 0; n < (std::size_t{1} << length); ++n) {
        const std::string name = word(n, "ab", length);
        if (glob_matches(pattern, name) != matches_by_definition(pattern, name)) {
          FAIL("pattern " << pattern << " and name " << name);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mayfly

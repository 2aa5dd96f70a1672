#include "base/glob.hpp"

#include <algorithm>
#include <string>

#include "base/utf8.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kMostBytes = 1024;
constexpr std::size_t kMostParts = 32;
constexpr std::string_view kAnyParts = "**";

// The `/`-separated parts of a pattern or a path, taken from the front. Cheap to copy: a copy marks a place
// to return to.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text), done_(text.empty()) {}
  bool done() const { return done_; }
  std::string_view front() const { return rest_.substr(0, rest_.find('/')); }
  void pop() {
    const std::size_t slash = rest_.find('/');
    done_ = slash == std::string_view::npos;
    rest_.remove_prefix(done_ ? rest_.size() : slash + 1);
  }

 private:
  std::string_view rest_;
  bool done_;
};

// One character; a byte that is not UTF-8 counts as one, distinct from every code point.
struct Character {
  char32_t value = 0;
  std::size_t length = 0;
};

Character first_character(std::string_view text) {
  constexpr char32_t kBrokenByte = 0x110000;  // above the last code point
  const CodePoint next = decode_utf8(text);
  if (next.length != 0) return {next.value, next.length};
  return {kBrokenByte + static_cast<unsigned char>(text.front()), 1};
}

// What one step of a part's pattern accepts.
enum class Kind { character, any, one_of, none_of, star, malformed };

struct Step {
  Kind kind = Kind::malformed;
  char32_t value = 0;          // Kind::character
  std::string_view members{};  // between the brackets, without `!`
  std::size_t length = 0;      // bytes of the pattern
  std::string_view why{};      // Kind::malformed
};

Step malformed(std::string_view why) {
  return {.kind = Kind::malformed, .why = why};
}

// A character at the front of `text` that a backslash may make literal; length 0 when nothing follows the
// backslash.
Character take_literal(std::string_view& text) {
  const bool escaped = text.front() == '\\';
  if (escaped) text.remove_prefix(1);
  if (text.empty()) return {};
  const Character c = first_character(text);
  text.remove_prefix(c.length);
  return c;
}

struct Range {
  char32_t first = 0;
  char32_t last = 0;
  bool ok = false;
};

// One member of a class, `a` or `a-z`, from the front. A `-` at either end of the class stands for itself.
Range take_range(std::string_view& members) {
  const Character first = take_literal(members);
  if (first.length == 0) return {};
  if (members.size() < 2 || members.front() != '-') return {first.value, first.value, true};
  members.remove_prefix(1);
  const Character last = take_literal(members);
  return {first.value, last.value, last.length != 0 && first.value <= last.value};
}

// Where the class that begins after `[` ends: its `]`, or npos.
std::size_t find_class_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ']') {
      return i;
    }
  }
  return std::string_view::npos;
}

Step read_class(std::string_view part) {
  std::string_view members = part.substr(1);
  const std::size_t end = find_class_end(members);
  if (end == std::string_view::npos)
    return malformed("a [ without its ]: write \\[ for the character itself");
  members = members.substr(0, end);
  const std::size_t length = end + 2;
  if (members.starts_with('^')) return malformed("[^: write [! for all characters but these, or [\\^");
  const Kind kind = members.starts_with('!') ? Kind::none_of : Kind::one_of;
  if (kind == Kind::none_of) members.remove_prefix(1);
  if (members.empty()) return malformed("empty brackets: write \\] inside them for the character itself");
  return {.kind = kind, .members = members, .length = length};
}

// The step at the front of a part that is not empty. Does not look into a class.
Step read_step(std::string_view part) {
  switch (part.front()) {
    case '*':
      return {.kind = Kind::star, .length = 1};
    case '?':
      return {.kind = Kind::any, .length = 1};
    case '[':
      return read_class(part);
    default:
      break;
  }
  std::string_view rest = part;
  const Character c = take_literal(rest);
  if (c.length == 0) return malformed("a \\ at the end of a part: write \\\\ for the character itself");
  return {.kind = Kind::character, .value = c.value, .length = part.size() - rest.size()};
}

bool is_member(std::string_view members, char32_t value) {
  while (!members.empty()) {
    const Range range = take_range(members);
    if (range.ok && range.first <= value && value <= range.last) return true;
  }
  return false;
}

bool accepts(const Step& step, char32_t value) {
  switch (step.kind) {
    case Kind::character:
      return step.value == value;
    case Kind::any:
      return true;
    case Kind::one_of:
      return is_member(step.members, value);
    case Kind::none_of:
      return !is_member(step.members, value);
    case Kind::star:
    case Kind::malformed:
      return false;
  }
  return false;
}

// Takes what stands literally in both: nearly all of most patterns, and the inner loop of the worst ones.
void skip_equal_front(std::string_view& pattern, std::string_view& name) {
  const auto plain = [](char c) { return c > 0 && c != '*' && c != '?' && c != '[' && c != '\\'; };
  const std::size_t most = std::min(pattern.size(), name.size());
  std::size_t n = 0;
  while (n < most && pattern[n] == name[n] && plain(pattern[n])) ++n;
  pattern.remove_prefix(n);
  name.remove_prefix(n);
}

// On a mismatch only the last star takes one character more: what stands before it has matched at the
// earliest place possible, so an earlier star cannot do better. At most pattern × name steps.
bool part_matches(std::string_view pattern, std::string_view name) {
  bool starred = false;
  std::string_view pattern_after_star;
  std::string_view name_at_star;
  for (;;) {
    skip_equal_front(pattern, name);
    if (name.empty() && pattern.empty()) return true;
    const Step step = pattern.empty() ? Step{} : read_step(pattern);
    if (step.kind == Kind::star) {
      pattern.remove_prefix(step.length);
      starred = true;
      pattern_after_star = pattern;
      name_at_star = name;
      continue;
    }
    const Character next = name.empty() ? Character{} : first_character(name);
    if (!name.empty() && accepts(step, next.value)) {
      pattern.remove_prefix(step.length);
      name.remove_prefix(next.length);
      continue;
    }
    if (!starred || name_at_star.empty()) return false;
    name_at_star.remove_prefix(first_character(name_at_star).length);
    pattern = pattern_after_star;
    name = name_at_star;
  }
}

// Why this part can not stand in a pattern; empty when it can.
std::string_view fault_in_part(std::string_view part) {
  if (part.empty())
    return "an empty part: write it relative to the workspace, with single slashes and none at the end";
  if (part == "." || part == "..") return "a part . or ..: write the path itself";
  if (part == kAnyParts) return {};
  bool after_star = false;
  while (!part.empty()) {
    const Step step = read_step(part);
    if (step.kind == Kind::malformed) return step.why;
    if (step.kind == Kind::star && after_star)
      return "** beside other characters: it stands for whole parts, as in a/**/b";
    after_star = step.kind == Kind::star;
    for (std::string_view members = step.members; !members.empty();) {
      if (!take_range(members).ok) return "a range whose end comes before its beginning, or has none";
    }
    part.remove_prefix(step.length);
  }
  return {};
}

tl::unexpected<Error> refuse(std::string_view pattern, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "the pattern " + quote_for_message(pattern) + " has " + std::string(why));
}

}  // namespace

Result<void> check_glob(std::string_view pattern) {
  if (pattern.empty()) return fail(ErrorCode::invalid_argument, "a pattern is empty: write ** for all files");
  if (pattern.size() > kMostBytes) {
    return refuse(pattern, "more than " + std::to_string(kMostBytes) + " bytes");
  }
  if (!is_utf8(pattern) || pattern.find('\0') != std::string_view::npos) {
    return refuse(pattern, "bytes that are not UTF-8, or a zero byte");
  }
  std::size_t count = 0;
  for (Parts parts(pattern); !parts.done(); parts.pop()) {
    if (++count > kMostParts) return refuse(pattern, "more than " + std::to_string(kMostParts) + " parts");
    const std::string_view fault = fault_in_part(parts.front());
    if (!fault.empty()) return refuse(pattern, fault);
  }
  return {};
}

// The same walk as in part_matches, one level up: `**` is the star and a part the character.
bool glob_matches(std::string_view pattern, std::string_view path) {
  Parts wanted(pattern);
  Parts left(path);
  bool starred = false;
  Parts wanted_after_star = wanted;
  Parts left_at_star = left;
  while (!left.done() || !wanted.done()) {
    if (!wanted.done() && wanted.front() == kAnyParts) {
      wanted.pop();
      starred = true;
      wanted_after_star = wanted;
      left_at_star = left;
    } else if (!wanted.done() && !left.done() && part_matches(wanted.front(), left.front())) {
      wanted.pop();
      left.pop();
    } else if (starred && !left_at_star.done()) {
      left_at_star.pop();
      wanted = wanted_after_star;
      left = left_at_star;
    } else {
      return false;
    }
  }
  return true;
}

bool glob_may_match_under(std::string_view pattern, std::string_view dir) {
  Parts wanted(pattern);
  for (Parts above(dir); !above.done(); above.pop(), wanted.pop()) {
    if (wanted.done()) return false;
    if (wanted.front() == kAnyParts) return true;
    if (!part_matches(wanted.front(), above.front())) return false;
  }
  return !wanted.done();
}

}  // namespace mayfly

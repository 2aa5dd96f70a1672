// Path patterns of a task's `outputs`. Pure; any thread. Linear in pattern × path, without recursion or
// regex.
#pragma once

#include <string_view>

#include "base/error.hpp"

namespace mayfly {

// A pattern is relative, `/`-separated, without empty, `.` or `..` parts: `*` and `?` stand for characters
// within one part, `**` as a whole part for any number of parts, `[abc]`/`[a-z]`/`[!a]` for one character,
// `\` takes the next character as it is. At most 1024 bytes and 32 parts.
Result<void> check_glob(std::string_view pattern);
// Whether the relative path matches as a whole. A pattern that names a directory does not match what lies
// under it.
bool glob_matches(std::string_view pattern, std::string_view path);
// Whether some path under directory `dir` (relative, without a final slash, "" is the top) could match.
bool glob_may_match_under(std::string_view pattern, std::string_view dir);

}  // namespace mayfly

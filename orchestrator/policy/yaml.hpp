// Strict YAML for task files and policies: our own typing over yaml-cpp's events, as JSON values with their
// places. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "policy/policy.hpp"

namespace mayfly {

namespace yaml_limits {
inline constexpr std::size_t kBytes = 1U << 20U;
inline constexpr std::size_t kDepth = 32;
inline constexpr std::size_t kNodes = 100'000;           // values and keys
inline constexpr std::size_t kFlowIndicators = 300'000;  // [ { and , in the whole text, also within scalars
inline constexpr std::size_t kKeyBytes = 1024;
// All key paths together: long keys over many values multiply.
inline constexpr std::size_t kPointerBytes = 16U << 20U;
}  // namespace yaml_limits

struct YamlDocument {
  Json value;
  // JSON pointer → where the value stands; for a map or list within a map, where its key stands.
  std::map<std::string, SourcePlace> places;
  // JSON pointer → what was written, for the plain scalars that became a number, a boolean or null.
  std::map<std::string, std::string> spellings;
};

// One document; no aliases, anchors, tags, merge keys, directives, duplicate keys or tabs in indentation;
// bounded as above: each limit is checked before what it limits is kept. Columns count bytes, from 1.
//
// Plain scalars: null/~/empty → null, true/false → bool, plain decimal integers → integer, plain decimal
// fractions → number; everything else that looks like a number or boolean in some YAML (0100, 0x40, 1_000,
// 1e3, +5, .5, .inf, .nan, yes, no, on, off, y, n, 12:30) stays text, and the typed reader that expects a
// number refuses it by name.
//
// yaml-cpp 0.7 reads a bracketed collection to its end before its first event, at up to 240 bytes of memory a
// bracket. So the brackets and commas of a text are counted before, wherever they stand; then no text takes
// more than 100 MiB.
//
// Error: invalid_argument, one FieldFault whose pointer is "file:line:column" and whose detail names the key
// path.
Result<YamlDocument> parse_yaml(std::string_view text, const std::string& file_name);

// Where text is meant, what was written counts: the scalars of the list or map at `pointer` become text again
// ("1.10" and not 1.1, "null", "5"). Nothing happens when there is no list or map.
void keep_as_written(YamlDocument& document, const std::string& pointer);

// "/spec/defaults/limits/memory" as people say it: "spec.defaults.limits.memory".
std::string key_path(std::string_view pointer);

// The place of a value, or of the nearest value around it that the document has.
SourcePlace place_of(const YamlDocument& document, std::string_view pointer);

}  // namespace mayfly

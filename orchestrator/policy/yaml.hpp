// Strict YAML for task files and policies: our own typing over yaml-cpp's events, as JSON values with their places.
// Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "policy/policy.hpp"

namespace mayfly {

struct YamlDocument {
  Json value;
  std::map<std::string, SourcePlace> places;  // JSON pointer → where the value stands
};

// One document; no aliases, anchors, tags, merge keys, duplicate keys or tabs in indentation; at most 1 MiB, depth 32.
// Plain scalars: null/~/empty → null, true/false → bool, plain decimal integers → integer, plain decimal fractions →
// number; everything else that looks like a number or boolean in some YAML (0100, 0x40, 1_000, 1e3, +5, .5, .inf, .nan,
// yes, no, on, off, y, n, 12:30) stays text, and the typed reader that expects a number refuses it by name.
// Error: invalid_argument, one FieldFault whose pointer is "file:line:column" and whose detail names the key path.
Result<YamlDocument> parse_yaml(std::string_view text, const std::string& file_name);

}  // namespace mayfly

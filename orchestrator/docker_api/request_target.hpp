// Builds the path and query of an engine call, so that no name can turn into another path. Pure; any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace mayfly::docker {

// RFC 3986: everything but unreserved characters as %XX.
std::string percent_encode(std::string_view text);

// A name or id of a container or volume as the engine itself allows it: letters, digits, '_', '.' and '-',
// the first a letter or digit, at most 255. invalid_argument otherwise, so that "..", "%2e%2e" or "a/../b"
// never reach the engine.
Result<void> check_object_name(std::string_view name);
// An image's name, tag, digest or id: parts divided by '/', ':' and '@', each like an object's name.
Result<void> check_image_reference(std::string_view reference);

using QueryPart = std::pair<std::string_view, std::string_view>;
// "/containers/create?name=x": keys and values percent-encoded.
std::string with_query(std::string path, std::initializer_list<QueryPart> query);
// The engine's filter for one label ("key" or "key=value"): {"label":["…"]}.
std::string label_filter(std::string_view label);

}  // namespace mayfly::docker

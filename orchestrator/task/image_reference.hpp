// The grammar of image references, before any engine sees one. Pure; any thread.
#pragma once

#include <string_view>

#include "base/error.hpp"

namespace mayfly {

// Accepts [host[:port]/]path[:tag][@sha256:<64 hex digits>] as the OCI distribution specification writes it,
// and sha256:<64 hex digits>, the id of a local image. The first part is a host only when it holds '.' or ':'
// or is "localhost"; all other parts are lower case. Error: invalid_argument, naming the part that is wrong.
Result<void> check_image_reference(std::string_view reference);

}  // namespace mayfly

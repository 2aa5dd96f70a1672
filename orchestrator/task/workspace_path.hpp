// Paths inside the workspace as they stand in specs, messages and archives. Pure; any thread.
#pragma once

#include <string_view>

#include "base/error.hpp"

namespace mayfly {

// Accepts a relative path of 1 to 1024 bytes whose parts are 1 to 255 bytes: no NUL, no empty, `.` or `..`
// part, no leading or final slash. Any other byte is a file name on Linux and is kept. The error says which
// rule was broken.
Result<void> check_workspace_path(std::string_view path);

}  // namespace mayfly

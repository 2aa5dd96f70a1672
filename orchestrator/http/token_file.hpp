// The bearer token of the TCP listener, in a file that only its owner can read. Called once at start.
// Blocking.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace mayfly::http {

// Reads the token; makes the file (mode 0600, a fresh random token) when there is none. forbidden when the
// file is not a regular file of ours with mode 0600 or 0400, or holds no token.
Result<std::string> load_or_make_token(const std::filesystem::path& file);

}  // namespace mayfly::http

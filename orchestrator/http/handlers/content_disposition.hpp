// Content-Disposition for file names that a task chose (RFC 6266, RFC 8187). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::http {

// Always an attachment. The plain form has letters, digits, '.', '-' and '_' only; when that is not the whole
// name, the extended form carries it exactly (if it is UTF-8). Only the last part of a path is used.
std::string content_disposition(std::string_view path);

}  // namespace mayfly::http

// docs/openapi.json as text, built into the program (embed_text.cmake).
#pragma once

#include <string_view>

namespace mayfly::http {

std::string_view openapi_json();

}  // namespace mayfly::http

// The type of a plain YAML scalar, by our own narrow rules (see parse_yaml). Used by yaml.cpp only. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace mayfly {

// true and false, plain decimal integers that 64 bits hold, plain decimal fractions; all else is text.
Json type_plain_scalar(const std::string& text);

}  // namespace mayfly

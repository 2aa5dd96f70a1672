// The version of a policy, as each task that it admits is stamped with. Used within policy/ only. Pure.
#pragma once

#include <string>

#include "policy/policy.hpp"

namespace mayfly {

// "sha256:" and the digest of the canonical JSON of all that decides.
std::string policy_version(const Policy& policy);

}  // namespace mayfly

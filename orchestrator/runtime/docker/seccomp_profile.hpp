// The system calls that a sandbox may make, as the profile that goes inline into every create. Our own
// allow-list, so that it does not depend on the engine's age: what ordinary programs without capabilities
// need (compilers, Python, Node, Java, shells) and what an OCI runtime still calls between installing the
// filter and exec. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly::docker {

// Compact JSON in the engine's format. `architecture` is Docker's word ("amd64", "arm64"); absent for any
// other. Only the native ABI is named: a call through another one (i386 and x32 on amd64) kills the caller.
std::optional<std::string> make_seccomp_profile(std::string_view architecture);

}  // namespace mayfly::docker

// Opens the conversation with a sandbox's runner as the orchestrator does, for tests. After the hello the
// runner has done all its hardening.
#pragma once

#include <string>

#include "channel/messages.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::test {

// Sends the opening lines of epoch 1 and reads until the hello that answers them.
Async<channel::Hello> greet_runner(Carrier& carrier, std::string nonce, Deadline deadline);

}  // namespace mayfly::test

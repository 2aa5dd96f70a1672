// What the runner sees of its own confinement, for `hello`: the orchestrator and the tests compare it with
// the profile.
#pragma once

#include "channel/messages.hpp"

namespace mayfly::runner {

channel::SelfReport make_self_report(int cgroup_version);
// The names in the text of /proc/net/dev.
std::vector<std::string> parse_interfaces(std::string_view net_dev);

}  // namespace mayfly::runner

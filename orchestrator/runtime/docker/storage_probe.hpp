// Which size limits an engine's storage can hold for a workspace. A tmpfs volume always holds one; a volume
// of the local driver on disk holds one only where its file system has project quotas, and the engine tells
// so when it is asked to make such a volume. I/O thread.
#pragma once

#include <string>

#include "docker_api/engine_client.hpp"

namespace mayfly::docker {

// A sentence for Capabilities::notes. Leaves nothing behind. Never fails: what could not be found out is
// said.
asio::awaitable<std::string> probe_disk_workspaces(EngineClient& engine, SystemInfo info, Deadline deadline);

}  // namespace mayfly::docker

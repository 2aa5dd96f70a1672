#include "runtime/docker/storage_probe.hpp"

#include "base/ids.hpp"

namespace mayfly::docker {

asio::awaitable<std::string> probe_disk_workspaces(EngineClient& engine, SystemInfo info, Deadline deadline) {
  VolumeConfig probe;
  probe.name = "mayfly-probe-" + make_random_hex(8);
  probe.options = {{"size", "16777216"}};
  const std::string storage = info.storage_driver + " on " + info.backing_filesystem;
  const auto made = co_await engine.create_volume(probe, deadline);
  (void)co_await engine.remove_volume(probe.name, deadline);
  if (!made) {
    co_return "workspaces are tmpfs only: " + storage + " holds no size limit for a volume on disk (" +
        made.error().message + ")";
  }
  co_return "workspaces are tmpfs only: " + storage +
      " could hold a size limit for a volume on disk, but none for its number of files";
}

}  // namespace mayfly::docker

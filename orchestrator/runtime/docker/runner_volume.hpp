// The read-only volume that puts mayfly-runner into any image, at /.mayfly. Named by the binary's SHA-256,
// filled through a container that is created and never started, and read back byte by byte before it is
// believed: another user of the engine can create a volume of any name. I/O thread.
#pragma once

#include <optional>
#include <string>

#include "async/async_lock.hpp"
#include "async/blocking_pool.hpp"
#include "base/log.hpp"
#include "docker_api/engine_client.hpp"
#include "runtime/docker/label_signature.hpp"

namespace mayfly::docker {

struct RunnerVolume {
  std::string name;
  std::string sha256;  // of the binary
};

class RunnerVolumeKeeper {
 public:
  // `binary` is the path of a static executable, read at each call of `ensure`.
  RunnerVolumeKeeper(EngineClient& engine, BlockingPool& pool, const Clock& clock, Logger& log,
                     const Installation& installation, std::string binary);

  // Makes and fills the volume where it is not there, and checks it. Where a volume of that name holds
  // something else the next of three names is taken; forbidden when all three do. Afterwards removes volumes
  // and helper containers that this installation left behind and nobody uses. Calls that overlap wait for
  // each other.
  Async<RunnerVolume> ensure(Deadline deadline);
  // False when somebody removed it (`docker volume prune` takes what no container uses): a container created
  // now would silently get a new and empty volume of that name.
  Async<bool> is_in_place(RunnerVolume volume, Deadline deadline);

 private:
  Async<RunnerVolume> find_or_make(Deadline deadline);
  Async<> ensure_helper_image(Deadline deadline);
  Async<bool> try_name(std::string name, std::string sha256, const std::string& binary, Deadline deadline);
  Async<bool> check_through_helper(std::string helper, const std::string& binary, Deadline deadline);
  Async<> create_helper(std::string helper, std::string volume, std::string sha256, Deadline deadline);
  Async<> remove_leftovers(std::string current_volume, Deadline deadline);

  EngineClient& engine_;
  BlockingPool& pool_;
  const Clock& clock_;
  Logger& log_;
  const Installation& installation_;
  std::string binary_path_;
  std::optional<AsyncLock> ensuring_;  // made at the first use, when there is an executor
};

}  // namespace mayfly::docker

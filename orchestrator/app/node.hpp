// One control plane with everything under it, composed: what `mayfly serve` puts listeners before, and what
// `mayfly run` uses in process. The composition root of the program's objects.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "lifecycle/control_plane.hpp"

namespace mayfly {

struct NodeConfig {
  std::filesystem::path data_dir;                    // made if absent, 0700, one server at a time
  std::optional<std::filesystem::path> policy_file;  // absent: the built-in policy
  std::string engine;                                // DOCKER_HOST's form; empty: the default socket
  std::filesystem::path runner_binary;               // the static mayfly-runner
};

class Node {
 public:
  // Blocking; at start-up, before the io_context runs. Errors name the file or setting that is wrong.
  static Result<std::unique_ptr<Node>> open(asio::io_context& io, NodeConfig config, const Clock& clock,
                                            Metrics& metrics, Logger& log);
  virtual ~Node() = default;

  virtual ControlPlane& control_plane() = 0;
  virtual const Policy& policy() const = 0;
  virtual BlockingPool& pool() = 0;
  // Ends the control plane's background work and closes the store; running sandboxes stay for a successor.
  virtual asio::awaitable<void> close() = 0;
};

}  // namespace mayfly

#include "app/node.hpp"

#include <sys/resource.h>

#include "app/installation.hpp"
#include "async/blocking_pool.hpp"
#include "base/file.hpp"
#include "docker_api/engine_client.hpp"
#include "log_store/segment_log_store.hpp"
#include "runtime/docker/docker_runtime.hpp"
#include "store/sqlite_task_store.hpp"
#include "workspace/artifact_store.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kDiskThreads = 4;

docker::CallObserver observe_calls(Metrics& metrics) {
  return [&metrics](std::string_view endpoint, std::string_view result, double seconds) {
    metrics.add("mayfly_engine_calls_total",
                {{"endpoint", std::string(endpoint)}, {"result", std::string(result)}});
    metrics.observe("mayfly_engine_call_seconds", seconds, {{"endpoint", std::string(endpoint)}});
  };
}

// Top to bottom: each object stands on those above it.
class ComposedNode final : public Node {
 public:
  struct Parts {
    std::shared_ptr<const Policy> policy;
    docker::EngineAddress engine;
    docker::Installation installation;
    std::unique_ptr<BlockingPool> pool;
    std::unique_ptr<TaskStore> store;
    std::unique_ptr<LogStore> logs;
    std::unique_ptr<ArtifactStore> artifacts;
  };

  ComposedNode(asio::io_context& io, const NodeConfig& config, Parts parts, const Clock& clock,
               Metrics& metrics, Logger& log)
      : policy_(std::move(parts.policy)),
        pool_(std::move(parts.pool)),
        store_(std::move(parts.store)),
        logs_(std::move(parts.logs)),
        artifacts_(std::move(parts.artifacts)),
        engine_(
            docker::make_engine_client(io.get_executor(), std::move(parts.engine), observe_calls(metrics))),
        runtime_(*engine_, *pool_, clock, log,
                 {.installation = std::move(parts.installation),
                  .runner_path = config.runner_binary.string(),
                  .accept_warnings = policy_->accept_warnings}),
        control_plane_({.io = io.get_executor(),
                        .runtime = runtime_,
                        .store = *store_,
                        .logs = *logs_,
                        .artifacts = *artifacts_,
                        .pool = *pool_,
                        .metrics = metrics,
                        .log = log,
                        .clock = clock},
                       policy_, {.data_dir = config.data_dir}) {}

  ControlPlane& control_plane() override { return control_plane_; }
  const Policy& policy() const override { return *policy_; }
  BlockingPool& pool() override { return *pool_; }

  asio::awaitable<void> close() override {
    co_await control_plane_.stop();
    (void)co_await store_->close();
  }

 private:
  std::shared_ptr<const Policy> policy_;
  std::unique_ptr<BlockingPool> pool_;
  std::unique_ptr<TaskStore> store_;
  std::unique_ptr<LogStore> logs_;
  std::unique_ptr<ArtifactStore> artifacts_;
  std::unique_ptr<docker::EngineClient> engine_;
  DockerRuntime runtime_;
  ControlPlane control_plane_;
};

// A core file would hold whatever the server held.
void forbid_core_dumps() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

Result<std::unique_ptr<Node>> Node::open(asio::io_context& io, NodeConfig config, const Clock& clock,
                                         Metrics& metrics, Logger& log) {
  forbid_core_dumps();
  auto policy = config.policy_file ? load_policy(*config.policy_file) : Result<Policy>(builtin_policy());
  if (!policy) return fail_with(std::move(policy));
  auto engine = docker::parse_engine_address(config.engine);
  if (!engine) return fail_with(std::move(engine));
  if (!std::filesystem::exists(config.runner_binary)) {
    return fail(ErrorCode::invalid_argument, "no mayfly-runner at " + config.runner_binary.string() +
                                                 ": build it, or name it with --runner");
  }
  auto directory = make_private_directory(config.data_dir);
  if (!directory) return fail_with(std::move(directory));
  auto store = open_sqlite_task_store(config.data_dir, clock, metrics);
  if (!store) return fail_with(std::move(store));
  auto installation = load_installation(config.data_dir);
  if (!installation) return fail_with(std::move(installation));
  auto pool = std::make_unique<BlockingPool>(kDiskThreads);
  auto logs = open_segment_log_store(config.data_dir, io.get_executor(), *pool, clock, log);
  if (!logs) return fail_with(std::move(logs));
  auto artifacts = open_artifact_store(config.data_dir, *pool);
  if (!artifacts) return fail_with(std::move(artifacts));
  for (const std::string& note : policy->notes) log.info("policy", note);
  ComposedNode::Parts parts{.policy = std::make_shared<const Policy>(std::move(*policy)),
                            .engine = std::move(*engine),
                            .installation = std::move(*installation),
                            .pool = std::move(pool),
                            .store = std::move(*store),
                            .logs = std::move(*logs),
                            .artifacts = std::move(*artifacts)};
  return std::make_unique<ComposedNode>(io, config, std::move(parts), clock, metrics, log);
}

}  // namespace mayfly

// A DockerRuntime on a real engine with the real runner, for tests. Its installation and its runner volume
// are its own (the runner is the built one with some random bytes after its end, which a static program does
// not mind), so that it can take all of its things away without touching a neighbour's.
#pragma once

#include <string>
#include <vector>

#include "runtime/docker/docker_runtime.hpp"
#include "support/engine_fixture.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

class DockerNode {
 public:
  DockerNode();
  ~DockerNode();
  DockerNode(const DockerNode&) = delete;
  DockerNode& operator=(const DockerNode&) = delete;

  // A spec with small default limits and a new id, of the busybox image.
  SandboxSpec sandbox_spec();
  static Deadline soon() { return Deadline::in(std::chrono::seconds(60)); }

  TempDir dir;
  EngineFixture engine;
  BlockingPool pool{1};
  SystemClock clock;
  NullLogger log;
  docker::Installation installation;
  DockerRuntime runtime;
  Capabilities capabilities;

 private:
  void remove_all();
};

}  // namespace mayfly::test

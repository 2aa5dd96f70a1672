// A client and the stand-in engine it speaks to, with the loop that runs the client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "docker_api/engine_client.hpp"
#include "fakes/scripted_engine.hpp"
#include "support/io_loop.hpp"

namespace mayfly::docker {

// Long enough for any machine; only a call that hangs gets here.
inline Deadline soon() {
  return Deadline::in(std::chrono::seconds(60));
}
// For a call that is meant to hang.
inline Deadline at_once() {
  return Deadline::in(Millis(20));
}

struct ScriptedClient {
  explicit ScriptedClient(
      test::ScriptedEngine::Transport transport = test::ScriptedEngine::Transport::unix_socket)
      : engine(transport) {
    engine.on("GET /version", {test::answer_json(200, R"({"ApiVersion":"1.41","MinAPIVersion":"1.12"})")});
    client = make_engine_client(loop.executor(), parse_engine_address(engine.address()).value(),
                                [this](std::string_view endpoint, std::string_view result, double) {
                                  observed.push_back(std::string(endpoint) + " " + std::string(result));
                                });
  }

  test::ScriptedEngine engine;
  test::IoLoop loop;
  std::vector<std::string> observed;
  std::unique_ptr<EngineClient> client;
};

}  // namespace mayfly::docker

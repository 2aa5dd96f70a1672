// The AttachStream over a hijacked connection to the engine.
#pragma once

#include <memory>
#include <vector>

#include "docker_api/engine_client.hpp"
#include "docker_api/engine_socket.hpp"

namespace mayfly::docker {

// `head`: what came right behind the engine's 101. Containers are made without a terminal, so the stream has
// frames, whatever content type the engine gave it (1.41 calls both kinds raw).
std::unique_ptr<AttachStream> make_attach_stream(EngineSocket socket, std::vector<std::byte> head);

}  // namespace mayfly::docker

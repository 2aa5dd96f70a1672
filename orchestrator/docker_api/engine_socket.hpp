// One connection to the engine, Unix or TCP behind one type. I/O thread only.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

#include "async/task_types.hpp"
#include "docker_api/engine_address.hpp"

namespace mayfly::docker {

using EngineSocket = asio::generic::stream_protocol::socket;

// engine_unreachable, naming the address and what to do. The caller pairs it with its deadline.
Async<EngineSocket> connect_engine(asio::any_io_executor executor, EngineAddress address);

// False once the peer has closed an idle connection, or has sent what nobody asked for.
bool is_idle(EngineSocket& socket);

}  // namespace mayfly::docker

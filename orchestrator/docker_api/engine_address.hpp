// Where an engine listens.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly::docker {

// "unix:///var/run/docker.sock" or "tcp://127.0.0.1:2375" (plain TCP only to loopback).
struct EngineAddress {
  enum class Kind { unix_socket, tcp } kind = Kind::unix_socket;
  std::string path_or_host;
  std::string port;
};
// DOCKER_HOST's form; empty: the default socket. invalid_argument names the accepted forms.
Result<EngineAddress> parse_engine_address(std::string_view text);
// The form that parse_engine_address reads.
std::string format_engine_address(const EngineAddress& address);

}  // namespace mayfly::docker

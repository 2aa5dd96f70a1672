// `mayfly serve`: the control plane with its listeners, until SIGTERM or SIGINT.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/node.hpp"

namespace mayfly::cli {

struct ServeOptions {
  NodeConfig node;
  std::filesystem::path socket;                     // default: data_dir/mayfly.sock
  std::optional<std::string> listen;                // "127.0.0.1:8080": TCP, loopback only
  std::optional<std::filesystem::path> token_file;  // default: data_dir/token
  bool drain = false;                               // at SIGTERM wait for running tasks
  LogFormat log_format = LogFormat::json;
  LogLevel log_level = LogLevel::info;
};

// The process's exit code. Blocks.
int serve(ServeOptions options);

}  // namespace mayfly::cli

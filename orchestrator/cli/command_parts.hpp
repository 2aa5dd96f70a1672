// The parts of the command tree; internal to cli/. Each adds its commands to the program; the chosen one's
// action is put into `chosen`, which the caller runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace mayfly::cli {

using Action = std::function<int()>;

extern const char* const kExitCodesHelp;

void add_node_commands(CLI::App& app, Action& chosen);    // serve, run
void add_client_commands(CLI::App& app, Action& chosen);  // submit, ls, show, logs, cancel, artifacts

}  // namespace mayfly::cli

#include "cli/command_tree.hpp"

#include <exception>

#include "cli/command_parts.hpp"
#include "cli/console.hpp"
#include "cli/exit_codes.hpp"

namespace mayfly::cli {

const char* const kExitCodesHelp =
    "Exit codes: the task's own code; 0 done, 1 refused, 2 wrong command line, 124 a time limit of the task, "
    "125 no "
    "server, no engine or an infrastructure fault, 126/127 cannot execute/not found, 128+n died by signal n, "
    "130 "
    "cancelled.";

int run_command_line(int argc, char** argv) {
  try {
    CLI::App app("Mayfly runs untrusted, short-lived work in containers that live for one task.", "mayfly");
    app.set_version_flag("--version", "mayfly " MAYFLY_VERSION);
    app.require_subcommand(1);
    app.footer(kExitCodesHelp);
    Action chosen;
    add_node_commands(app, chosen);
    add_client_commands(app, chosen);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? kOk : kUsage;
    }
    return chosen();
  } catch (const std::exception& error) {
    say(std::string("internal error: ") + error.what());
    return kOrchestrator;
  }
}

}  // namespace mayfly::cli

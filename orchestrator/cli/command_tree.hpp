// The command line of `mayfly`: every command, option and help text. Help, completion and man pages come from
// this one tree. Called by main.
#pragma once

namespace mayfly::cli {

// Parses and runs; the process's exit code (exit_codes.hpp). Never throws.
int run_command_line(int argc, char** argv);

}  // namespace mayfly::cli

// `mayfly`: one binary for the control plane, local simulation and the client.
#include "cli/command_tree.hpp"

int main(int argc, char** argv) {
  return mayfly::cli::run_command_line(argc, argv);
}

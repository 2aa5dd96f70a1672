// Where things are when the command line does not say: XDG directories, and the runner beside our own binary.
#pragma once

#include <filesystem>

namespace mayfly::cli {

// $XDG_STATE_HOME/mayfly, ~/.local/state/mayfly, or /var/lib/mayfly for root.
std::filesystem::path default_state_dir();
// `mayfly-runner` beside this program, else in ../lib/mayfly/ of it.
std::filesystem::path default_runner_binary();

}  // namespace mayfly::cli

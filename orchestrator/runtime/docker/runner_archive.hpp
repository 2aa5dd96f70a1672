// The tar archives that carry mayfly-runner into its volume and back: one directory, one file. Pure; any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly::docker {

// One file `runner`, 0555, owned by root.
std::string make_runner_archive(std::string_view binary);

// An empty root file system with the directory that the volume is mounted on.
std::string make_helper_image_archive();

enum class RunnerVolumeContent { empty, right, wrong };

// What GET archive says of the mounted volume: its directory alone, the directory with exactly this binary as
// a 0555 file of root, or anything else. protocol when it is no tar archive.
Result<RunnerVolumeContent> check_runner_archive(std::string_view archive, std::string_view binary);

}  // namespace mayfly::docker

// Who this data directory is, among all that may share an engine: an id and the key that signs our labels.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "runtime/docker/label_signature.hpp"

namespace mayfly {

// data_dir/installation: "<id>\n<key in hex>\n", 0600, made at the first start. forbidden when others may
// read it. Blocking. Losing the file means that running sandboxes are no longer known as ours.
Result<docker::Installation> load_installation(const std::filesystem::path& data_dir);

}  // namespace mayfly

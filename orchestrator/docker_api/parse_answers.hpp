// The engine's answers, from JSON to our types: fields we do not know pass, fields we need must be there.
// protocol when an answer cannot be read. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "docker_api/engine_types.hpp"

namespace mayfly::docker {

// parse_system.cpp
Result<Json> parse_body(std::string_view body);
Result<VersionInfo> parse_version(Json answer);
Result<SystemInfo> parse_info(Json answer);
Result<ImageInspect> parse_image(Json answer);
// POST /images/create answers with one JSON object a line; the last one names the image's id, or an error.
Result<std::string> parse_import(std::string_view body);

// parse_containers.cpp
Result<Created> parse_created(Json answer);
Result<ContainerInspect> parse_container(Json answer);
Result<std::vector<ContainerSummary>> parse_container_list(Json answer);
// protocol while the engine gives no code: null is "not known", never 0.
Result<int> parse_wait(Json answer);
Result<std::vector<std::string>> parse_update(Json answer);

// parse_volumes.cpp
Result<VolumeInfo> parse_volume(Json answer);
Result<std::vector<VolumeInfo>> parse_volume_list(Json answer);

}  // namespace mayfly::docker

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
Result<VersionInfo> parse_version(const Json& answer);
Result<SystemInfo> parse_info(Json answer);
Result<ImageInspect> parse_image(const Json& answer);
// POST /images/create answers with one JSON object a line; the last one names the image's id, or an error.
Result<std::string> parse_import(std::string_view body);

// parse_containers.cpp
Result<Created> parse_created(const Json& answer);
Result<ContainerInspect> parse_container(Json answer);
Result<std::vector<ContainerSummary>> parse_container_list(const Json& answer);
// protocol while the engine gives no code: null is "not known", never 0.
Result<int> parse_wait(const Json& answer);
Result<std::vector<std::string>> parse_update(const Json& answer);

// parse_volumes.cpp
Result<VolumeInfo> parse_volume(const Json& answer);
Result<std::vector<VolumeInfo>> parse_volume_list(const Json& answer);

}  // namespace mayfly::docker

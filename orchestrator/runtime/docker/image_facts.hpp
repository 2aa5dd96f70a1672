// What a local image means for a sandbox: the image is input from outside, and all that it would make the
// engine do (volumes, variables, an entry point) is covered, removed or refused. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "docker_api/engine_types.hpp"
#include "runtime/docker/engine_facts.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::docker {

// How many declared volumes are covered; each is a small tmpfs that counts as the task's memory.
inline constexpr std::size_t kMaxImageVolumes = 16;

// Docker's reference grammar (distribution/reference): [host[:port]/]path[:tag][@sha256:…], or an id. At most
// 255 bytes. invalid_argument says which part is wrong.
Result<> check_image_name(std::string_view reference);

// invalid_argument for an image of another platform, unprocessable for volumes that cannot be covered.
Result<Image> make_image(const std::string& reference, const ImageInspect& found, const EngineFacts& engine);

}  // namespace mayfly::docker

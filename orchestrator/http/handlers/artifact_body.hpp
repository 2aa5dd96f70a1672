// An artifact as a streaming body. Memory is bounded by one piece of 64 KiB.
#pragma once

#include <memory>

#include "http/byte_range.hpp"
#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

std::unique_ptr<StreamingBody> make_artifact_body(std::unique_ptr<ArtifactReader> reader, ByteRange range);
// Writes exactly the range, or fails.
Async<> copy_artifact(ArtifactReader& reader, ByteRange range, BodyWriter& out);

}  // namespace mayfly::http

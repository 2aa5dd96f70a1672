// All artifacts of a task as one tar (POSIX pax interchange format) while it is sent. Memory is bounded by
// one piece of 64 KiB and the list itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

struct TarBody {
  std::unique_ptr<StreamingBody> body;
  std::uint64_t length = 0;  // of the whole archive
};

// Every entry carries the time `at`.
TarBody make_tar_body(TaskService& service, TenantId tenant, TaskId id, std::vector<Artifact> artifacts,
                      WallTime at);

// The 512-byte blocks before an artifact's content: one, or three and more when its path or size does not fit
// a plain header (a pax extended header then says it exactly). Pure.
std::string format_tar_header(const Artifact& artifact, WallTime at);

}  // namespace mayfly::http

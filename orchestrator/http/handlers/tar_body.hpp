// All artifacts of a task as one tar, made while it is sent. Memory is bounded by one piece of 64 KiB and the
// list itself.
#pragma once

#include <memory>
#include <vector>

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

// Every entry carries the time `at`.
std::unique_ptr<StreamingBody> make_tar_body(TaskService& service, TenantId tenant, TaskId id,
                                             std::vector<Artifact> artifacts, WallTime at);

}  // namespace mayfly::http

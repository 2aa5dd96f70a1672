// /v1/tasks/{id}/artifacts: the list of a task's results, one of them, or all as one tar.
#pragma once

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class ArtifactsHandler {
 public:
  explicit ArtifactsHandler(TaskService& service) : service_(service) {}

  Async<Response> list(const Request& request);
  // With Range, If-Range and If-None-Match; the entity tag is the SHA-256.
  Async<Response> download(const Request& request);
  Async<Response> download_all(const Request& request);

 private:
  TaskService& service_;
};

}  // namespace mayfly::http

// GET /v1/tasks/{id}/usage: what the task used, sample by sample.
#pragma once

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class UsageHandler {
 public:
  explicit UsageHandler(TaskService& service) : service_(service) {}
  Async<Response> list(const Request& request);

 private:
  TaskService& service_;
};

}  // namespace mayfly::http

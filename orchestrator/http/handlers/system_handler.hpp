// Health, metrics, the API's own description, and what this installation can do.
#pragma once

#include "base/metrics.hpp"
#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class SystemHandler {
 public:
  SystemHandler(TaskService& service, Metrics& metrics) : service_(service), metrics_(metrics) {}

  // The loop answers; nothing else is looked at, so that a sick engine does not get a sound server restarted.
  Async<Response> live(const Request& request);
  // 200 or 503. ?verbose lists the checks; why one fails is told to authenticated callers only.
  Async<Response> ready(const Request& request);
  Async<Response> metrics(const Request& request);
  Async<Response> openapi(const Request& request);
  Async<Response> capabilities(const Request& request);

 private:
  TaskService& service_;
  Metrics& metrics_;
};

}  // namespace mayfly::http

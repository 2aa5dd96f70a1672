// GET /v1/tasks/{id}/events: the task's feed as server-sent events (WHATWG HTML) or NDJSON, resumable by id.
#pragma once

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class EventsHandler {
 public:
  EventsHandler(TaskService& service, Millis heartbeat) : service_(service), heartbeat_(heartbeat) {}
  Async<Response> stream(const Request& request);

 private:
  TaskService& service_;
  Millis heartbeat_;
};

}  // namespace mayfly::http

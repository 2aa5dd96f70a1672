// GET /v1/tasks/{id}/logs: a task's output, byte for byte.
#pragma once

#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class LogsHandler {
 public:
  LogsHandler(TaskService& service, Millis heartbeat) : service_(service), heartbeat_(heartbeat) {}
  // ?stream=stdout|stderr|both: `both` interleaves in stored order. ?stdout_from= and ?stderr_from= skip
  // bytes, to resume. ?follow=true goes on to the log's end. Range: for one stream, without the former.
  // Accept: application/x-ndjson gives records; text/plain changes the label only.
  Async<Response> stream(const Request& request);

 private:
  struct Wanted;
  static Result<Wanted> parse(const Request& request);
  Async<Response> open(const Request& request, const Wanted& wanted, std::uint64_t length, Response response);

  TaskService& service_;
  Millis heartbeat_;
};

}  // namespace mayfly::http

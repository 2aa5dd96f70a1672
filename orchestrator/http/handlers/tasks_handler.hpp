// /v1/tasks: submit, list, show, cancel.
#pragma once

#include "async/blocking_pool.hpp"
#include "http/http_types.hpp"
#include "lifecycle/task_service.hpp"

namespace mayfly::http {

class TasksHandler {
 public:
  TasksHandler(TaskService& service, BlockingPool& pool) : service_(service), pool_(pool) {}

  Async<Response> create(const Request& request);
  Async<Response> list(const Request& request);
  Async<Response> show(const Request& request);
  Async<Response> cancel(const Request& request);

 private:
  Async<TaskSpec> read_spec(const Request& request);
  Async<Response> answer_dry_run(const Request& request, TaskSpec spec);

  TaskService& service_;
  BlockingPool& pool_;
};

}  // namespace mayfly::http

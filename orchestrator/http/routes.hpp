// The API's table of contents.
#pragma once

#include <vector>

#include "http/handlers/artifacts_handler.hpp"
#include "http/handlers/events_handler.hpp"
#include "http/handlers/logs_handler.hpp"
#include "http/handlers/system_handler.hpp"
#include "http/handlers/tasks_handler.hpp"
#include "http/handlers/usage_handler.hpp"
#include "http/router.hpp"

namespace mayfly::http {

// One handler a resource. Outlives the routes made from it.
struct ApiHandlers {
  ApiHandlers(TaskService& service, BlockingPool& pool, Metrics& metrics_of_program, Millis heartbeat)
      : tasks(service, pool),
        events(service, heartbeat),
        logs(service, heartbeat),
        usage(service),
        artifacts(service),
        system(service, metrics_of_program) {}

  TasksHandler tasks;
  EventsHandler events;
  LogsHandler logs;
  UsageHandler usage;
  ArtifactsHandler artifacts;
  SystemHandler system;
};

std::vector<Route> make_routes(ApiHandlers& handlers);

}  // namespace mayfly::http

#include "http/routes.hpp"

namespace mayfly::http {
namespace {

template <class Resource>
Handler call(Resource& resource, Async<Response> (Resource::*member)(const Request&)) {
  return [&resource, member](const Request& request) { return (resource.*member)(request); };
}

using Query = std::vector<std::string>;

Route get(std::string pattern, Handler handler, Query query = {}) {
  return {.method = "GET",
          .pattern = std::move(pattern),
          .query = std::move(query),
          .handler = std::move(handler)};
}

Route get_public(std::string pattern, Handler handler, Query query = {}) {
  Route route = get(std::move(pattern), std::move(handler), std::move(query));
  route.access = Access::everyone;
  return route;
}

Route post(std::string pattern, Handler handler, BodyRule body, Query query = {}) {
  return {.method = "POST",
          .pattern = std::move(pattern),
          .query = std::move(query),
          .body = body,
          .handler = std::move(handler)};
}

}  // namespace

std::vector<Route> make_routes(ApiHandlers& api) {
  const Query list_query = {"limit", "cursor", "state", "label", "submitted_after", "submitted_before"};
  const Query log_query = {"stream", "follow", "stdout_from", "stderr_from"};
  return {
      post("/v1/tasks", call(api.tasks, &TasksHandler::create), BodyRule::task_spec, {"dry_run"}),
      get("/v1/tasks", call(api.tasks, &TasksHandler::list), list_query),
      get("/v1/tasks/{id}", call(api.tasks, &TasksHandler::show), {"detail"}),
      post("/v1/tasks/{id}/cancel", call(api.tasks, &TasksHandler::cancel), BodyRule::empty_or_json),

      get("/v1/tasks/{id}/events", call(api.events, &EventsHandler::stream), {"after"}),
      get("/v1/tasks/{id}/logs", call(api.logs, &LogsHandler::stream), log_query),
      get("/v1/tasks/{id}/usage", call(api.usage, &UsageHandler::list)),

      get("/v1/tasks/{id}/artifacts", call(api.artifacts, &ArtifactsHandler::list)),
      get("/v1/tasks/{id}/artifacts.tar", call(api.artifacts, &ArtifactsHandler::download_all)),
      get("/v1/tasks/{id}/artifacts/{path...}", call(api.artifacts, &ArtifactsHandler::download)),

      get("/v1/capabilities", call(api.system, &SystemHandler::capabilities)),
      get("/openapi.json", call(api.system, &SystemHandler::openapi)),
      get("/metrics", call(api.system, &SystemHandler::metrics)),

      get_public("/livez", call(api.system, &SystemHandler::live)),
      get_public("/healthz", call(api.system, &SystemHandler::live)),
      get_public("/readyz", call(api.system, &SystemHandler::ready), {"verbose"}),
  };
}

}  // namespace mayfly::http

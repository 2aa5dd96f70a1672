#include "http/handlers/system_handler.hpp"

#include "http/handlers/parameters.hpp"
#include "http/middleware.hpp"
#include "http/openapi.hpp"

namespace mayfly::http {
namespace {

Json to_json(const Capabilities& capabilities) {
  return {{"backend", capabilities.backend},
          {"engine_version", capabilities.engine_version},
          {"adoptable", capabilities.adoptable},
          {"late_limits", capabilities.late_limits},
          {"workspace", capabilities.workspace == WorkspaceStorage::tmpfs ? "tmpfs" : "disk"},
          {"workspace_max", capabilities.workspace_max.count},
          {"node_millicpus", capabilities.node_millicpus},
          {"node_memory", capabilities.node_memory.count},
          {"notes", capabilities.notes}};
}

Json to_json(const Readiness::Check& check, bool with_detail) {
  Json json = {{"name", check.name}, {"ok", check.ok}};
  if (with_detail && !check.detail.empty()) json["detail"] = check.detail;
  return json;
}

Json spec_limits_json() {
  return {{"spec_body_bytes", kSpecBodyBytes},
          {"name_bytes", spec_limits::kNameBytes},
          {"image_bytes", spec_limits::kImageBytes},
          {"command_args", spec_limits::kCommandArgs},
          {"arg_bytes", spec_limits::kArgBytes},
          {"exec_bytes", spec_limits::kExecBytes},
          {"script_bytes", spec_limits::kScriptBytes},
          {"env_entries", spec_limits::kEnvEntries},
          {"stdin_bytes", spec_limits::kStdinBytes},
          {"inputs", spec_limits::kInputs},
          {"input_bytes", spec_limits::kInputBytes},
          {"outputs", spec_limits::kOutputs},
          {"labels", spec_limits::kLabels},
          {"label_bytes", spec_limits::kLabelBytes},
          {"path_bytes", spec_limits::kPathBytes}};
}

}  // namespace

Async<Response> SystemHandler::live(const Request&) {
  co_return json_response(200, R"({"status":"ok"})");
}

Async<Response> SystemHandler::ready(const Request& request) {
  const auto verbose = flag_of(request, "verbose");
  if (!verbose) co_return fail_with(verbose);
  const Readiness readiness = service_.readiness();
  Json json = {{"ready", readiness.ready}};
  if (*verbose) {
    json["checks"] = Json::array();
    for (const auto& check : readiness.checks)
      json["checks"].push_back(to_json(check, request.principal.has_value()));
  }
  co_return json_response(readiness.ready ? 200 : 503, dump_json(json));
}

Async<Response> SystemHandler::metrics(const Request&) {
  Response response;
  response.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  response.body = metrics_.render();
  co_return response;
}

Async<Response> SystemHandler::openapi(const Request&) {
  Response response;
  response.headers.add("Content-Type", "application/json");
  response.body = openapi_json();
  co_return response;
}

Async<Response> SystemHandler::capabilities(const Request&) {
  const auto runtime = service_.capabilities();
  const Json json = {{"version", MAYFLY_VERSION},
                     {"api_versions", {"v1"}},
                     {"task_kinds", {"command"}},
                     {"runtime", runtime ? to_json(*runtime) : Json()},
                     {"spec_limits", spec_limits_json()}};
  co_return json_response(200, dump_json(json));
}

}  // namespace mayfly::http

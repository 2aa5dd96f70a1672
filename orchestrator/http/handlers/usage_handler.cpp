#include "http/handlers/usage_handler.hpp"

#include "http/handlers/parameters.hpp"

namespace mayfly::http {
namespace {

Json to_json(const UsageSample& sample) {
  return {{"at", format_time(sample.at)},
          {"cpu_ms", sample.usage.cpu_ms},
          {"memory_bytes", sample.usage.memory_bytes},
          {"memory_peak_bytes", sample.usage.memory_peak_bytes},
          {"pids", sample.usage.pids},
          {"pids_peak", sample.usage.pids_peak},
          {"stalled_ms", sample.usage.stalled_ms}};
}

}  // namespace

Async<Response> UsageHandler::list(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const auto samples = co_await service_.usage(request.tenant(), *id);
  if (!samples) co_return fail_with(samples);
  Json items = Json::array();
  for (const UsageSample& sample : *samples) items.push_back(to_json(sample));
  const Json json = {{"items", std::move(items)}};
  co_return json_response(200, dump_json(json));
}

}  // namespace mayfly::http

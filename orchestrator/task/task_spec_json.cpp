// Specs as JSON again (declared in task_spec.hpp): for the store, the API and the idempotency fingerprint.
#include "task/limits_fields.hpp"
#include "task/spec_names.hpp"
#include "task/task_spec.hpp"

namespace mayfly {
namespace {

std::string mode_text(std::uint32_t mode) {
  std::string text = "0";
  for (const unsigned shift : {6U, 3U, 0U}) text.push_back(static_cast<char>('0' + (mode >> shift & 7U)));
  return text;
}

Json to_json(const InputFile& input) {
  Json json = {{"path", input.path}, {"mode", mode_text(input.mode)}};
  put_bytes(json, "content", input.content);
  return json;
}

void put_process(Json& json, const TaskSpec& spec) {
  if (spec.script.empty()) {
    json["command"] = spec.command;
  } else {
    put_bytes(json, "script", spec.script);
  }
  if (!spec.env.empty()) json["env"] = spec.env;
  json["working_dir"] = spec.working_dir;
  if (!spec.stdin_data.empty()) put_bytes(json, "stdin", spec.stdin_data);
}

void put_files(Json& json, const TaskSpec& spec) {
  for (const auto& input : spec.inputs) json["inputs"].push_back(to_json(input));
  if (!spec.outputs.empty()) json["outputs"] = spec.outputs;
}

}  // namespace

Json to_json(const TaskSpec& spec) {
  Json json = {{"kind", name_of(spec.kind)},
               {"image", spec.image},
               {"priority", spec.priority},
               {"on_log_limit", name_of(spec.on_log_limit)}};
  if (!spec.name.empty()) json["name"] = spec.name;
  put_process(json, spec);
  put_files(json, spec);
  if (auto limits = to_json(spec.limits); !limits.empty()) json["limits"] = std::move(limits);
  if (auto timeouts = to_json(spec.timeouts); !timeouts.empty()) json["timeouts"] = std::move(timeouts);
  if (!spec.labels.empty()) json["labels"] = spec.labels;
  return json;
}

std::string canonical_text(const TaskSpec& spec) {
  return dump_json(to_json(spec));
}

}  // namespace mayfly

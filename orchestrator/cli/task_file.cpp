#include "cli/task_file.hpp"

#include "base/file.hpp"
#include "policy/yaml.hpp"

namespace mayfly::cli {
namespace {

constexpr Bytes kLongestFile = 4_MiB;

// Tells where in the file a fault of the spec stands.
Error placed(Error error, const YamlDocument& document) {
  for (FieldFault& fault : error.fields) {
    const auto place = document.places.find(fault.pointer);
    if (place != document.places.end()) fault.pointer = to_string(place->second) + " " + fault.pointer;
  }
  return error;
}

Result<TaskSpec> make_task(std::vector<std::string> words) {
  if (words.size() > 1 && words[1] == "--") words.erase(words.begin() + 1);
  Json json{{"kind", "command"}, {"image", words.front()}};
  json["command"] = std::vector<std::string>(words.begin() + 1, words.end());
  return parse_task_spec(json);
}

}  // namespace

bool names_task_file(std::string_view word) {
  return word == "-" || word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

Result<TaskSpec> read_task_file(const std::string& name) {
  auto text = read_file(name == "-" ? "/dev/stdin" : name, kLongestFile);
  if (!text) return fail_with(std::move(text));
  if (name.ends_with(".json")) {
    auto json = parse_json(*text);
    if (!json) return fail_with(std::move(json));
    return parse_task_spec(*json);
  }
  auto document = parse_yaml(*text, name == "-" ? "standard input" : name);
  if (!document) return fail_with(std::move(document));
  // A word of a command is text however it looks: `[sleep, 5]`.
  for (const char* pointer : {"/command", "/env", "/labels", "/outputs"}) keep_as_written(*document, pointer);
  auto spec = parse_task_spec(document->value);
  if (!spec) return tl::unexpected<Error>(placed(std::move(spec.error()), *document));
  return spec;
}

Result<TaskSpec> task_of(const std::vector<std::string>& words) {
  if (words.size() == 1 && names_task_file(words.front())) return read_task_file(words.front());
  if (words.empty()) return fail(ErrorCode::invalid_argument, "name a task file, or an image and a command");
  if (names_task_file(words.front())) {
    return fail(ErrorCode::invalid_argument,
                "options come before the task file: mayfly run --outputs DIR " + words.front());
  }
  return make_task(words);
}

}  // namespace mayfly::cli

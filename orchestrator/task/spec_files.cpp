#include <set>

#include "base/glob.hpp"
#include "task/spec_parts.hpp"
#include "task/workspace_path.hpp"

namespace mayfly::spec_parts {
namespace {

using namespace spec_limits;

std::optional<std::string> read_path(const Field& field) {
  auto path = field.as_text({.most = kPathBytes});
  if (!path) return std::nullopt;
  if (const auto checked = check_workspace_path(*path); !checked) {
    field.add_fault("bad_format", checked.error().message);
    return std::nullopt;
  }
  return path;
}

// "0644" or "644"; permission bits only. A number would be read as decimal by some and as octal by others.
std::optional<std::uint32_t> read_mode(const Field& field) {
  const auto text = field.as_text();
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  if (digits.size() == 4 && digits.front() == '0') digits.remove_prefix(1);
  if (digits.size() != 3 || digits.find_first_not_of("01234567") != std::string_view::npos) {
    field.add_fault("bad_format", "a mode is octal text such as \"0644\", without set-id and sticky bits");
    return std::nullopt;
  }
  std::uint32_t mode = 0;
  for (const char digit : digits) mode = mode << 3U | static_cast<std::uint32_t>(digit - '0');
  return mode;
}

InputFile read_input(const Field& field) {
  auto fields = field.as_object();
  InputFile input;
  take(input.path, read_path(fields.required("path")));
  take(input.mode, read_mode(fields.optional("mode")));
  const bool has_content = fields.has("content") || fields.has("content_base64");
  take(input.content, read_bytes(fields, "content", "content_base64", {.most = kInputBytes}));
  if (field && field.value()->is_object() && !has_content) {
    field.add_fault(
        "required",
        "an input has its bytes in content (text) or content_base64; an empty file: content \"\"");
  }
  fields.finish();
  return input;
}

// Whether some other path of the set would have to be a directory under this name, or the other way round.
bool collides(const std::set<std::string, std::less<>>& taken, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (taken.contains(std::string_view(path).substr(0, slash))) return true;
  }
  const auto below = taken.lower_bound(path + '/');
  return below != taken.end() && below->starts_with(path + '/');
}

void read_inputs(const Field& list, std::vector<InputFile>& inputs) {
  std::set<std::string, std::less<>> taken;
  std::size_t bytes = 0;
  for (const auto& field : list.as_list(kInputs)) {
    auto input = read_input(field);
    const Field path(nullptr, pointer_to(field.pointer(), "path"), list.faults());
    if (collides(taken, input.path)) {
      path.add_fault("conflict", "a file cannot also be the directory of another input");
    } else if (!input.path.empty() && !taken.insert(input.path).second) {
      path.add_fault("duplicate", "another input has the same path");
    }
    bytes += input.content.size();
    inputs.push_back(std::move(input));
  }
  if (bytes > kInputBytes) {
    list.add_fault("out_of_range", std::to_string(bytes) + " bytes in all; inline inputs have at most " +
                                       std::to_string(kInputBytes) + " together");
  }
}

void read_outputs(const Field& list, std::vector<std::string>& outputs) {
  for (const auto& field : list.as_list(kOutputs)) {
    auto pattern = field.as_text({.least = 1, .most = kPathBytes});
    if (!pattern) continue;
    if (const auto checked = check_glob(*pattern); !checked) {
      field.add_fault("bad_format", checked.error().message);
      continue;
    }
    outputs.push_back(*std::move(pattern));
  }
  // They travel to the runner in the head of one record, which holds 12 KiB (docs/channel.md).
  constexpr std::size_t kOutputsBytes = 4096;
  if (const std::size_t bytes = dump_json(Json(outputs)).size(); bytes > kOutputsBytes) {
    list.add_fault("out_of_range", "the patterns are " + std::to_string(bytes) +
                                       " bytes together as JSON, at most " + std::to_string(kOutputsBytes) +
                                       " are taken: use wider patterns");
  }
}

}  // namespace

void read_files(ObjectReader& fields, TaskSpec& spec) {
  read_inputs(fields.optional("inputs"), spec.inputs);
  read_outputs(fields.optional("outputs"), spec.outputs);
}

}  // namespace mayfly::spec_parts

#include <algorithm>

#include "base/utf8.hpp"
#include "task/spec_parts.hpp"

namespace mayfly::spec_parts {
namespace {

using namespace spec_limits;

constexpr std::string_view kByFile = "; send long text as an input file or on stdin instead";

void read_command(const Field& list, std::vector<std::string>& command) {
  if (!list) return;
  const auto args = list.as_list(kCommandArgs);
  if (list.value()->is_array() && list.value()->empty()) {
    list.add_fault("out_of_range", "a command has at least its program");
  }
  for (const auto& arg : args) {
    auto text = arg.as_text();
    if (!text) continue;
    if (&arg == &args.front() && text->empty())
      arg.add_fault("out_of_range", "the program's name must not be empty");
    if (text->size() > kArgBytes) {
      arg.add_fault("out_of_range", std::to_string(text->size()) + " bytes long; the kernel takes at most " +
                                        std::to_string(kArgBytes) + " an argument" + std::string(kByFile));
    }
    command.push_back(*std::move(text));
  }
}

void read_script(ObjectReader& fields, std::string& script) {
  take(script, read_bytes(fields, "script", "script_base64", {.least = 1, .most = kScriptBytes}));
  if (script.find('\0') == std::string::npos) return;
  const auto field = fields.optional(fields.has("script") ? "script" : "script_base64");
  field.add_fault("bad_format", "holds a NUL, at which a shell would stop reading");
}

void read_command_or_script(ObjectReader& fields, TaskSpec& spec) {
  const auto command = fields.optional("command");
  read_command(command, spec.command);
  read_script(fields, spec.script);
  const bool has_script = fields.has("script") || fields.has("script_base64");
  if (command && has_script) command.add_fault("conflict", "give either command or script, not both");
  if (!command && !has_script) command.add_fault("required", "give command (a list) or script (text)");
}

bool is_space_or_control(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}

// The rule that the name of a variable breaks; empty when it breaks none.
std::string_view find_name_fault(std::string_view key) {
  if (key.empty()) return "a variable's name must not be empty";
  if (key.find('=') != std::string_view::npos)
    return "a variable's name holds no '=': the value would begin there";
  if (std::any_of(key.begin(), key.end(), is_space_or_control)) {
    return "a variable's name holds no white space and no control character: no shell could name it";
  }
  if (!is_utf8(key)) return "a variable's name is valid UTF-8";
  return {};
}

void read_env(const Field& map, std::map<std::string, std::string>& env) {
  for (const auto& [key, field] : map.as_map(kEnvEntries)) {
    if (const auto fault = find_name_fault(key); !fault.empty()) {
      field.add_fault("bad_format", std::string(fault));
      continue;
    }
    auto value = field.as_text();
    if (!value) continue;
    const auto bytes = key.size() + 1 + value->size();
    if (bytes > kArgBytes) {
      field.add_fault("out_of_range", std::to_string(bytes) +
                                          " bytes with its name; the kernel takes at most " +
                                          std::to_string(kArgBytes) + " a variable" + std::string(kByFile));
      continue;
    }
    env.emplace(key, *std::move(value));
  }
}

// execve(2) takes argv and the environment as one block, each with its final NUL.
void check_exec_bytes(const TaskSpec& spec, ObjectReader& fields) {
  std::size_t bytes = 0;
  for (const auto& arg : spec.command) bytes += arg.size() + 1;
  for (const auto& [key, value] : spec.env) bytes += key.size() + value.size() + 2;
  if (bytes <= kExecBytes) return;
  fields.faults().add(pointer_to(fields.pointer(), spec.command.empty() ? "env" : "command"), "out_of_range",
                      "command and env have " + std::to_string(bytes) + " bytes together; at most " +
                          std::to_string(kExecBytes) + " are accepted" + std::string(kByFile));
}

bool is_normalized_absolute(std::string_view path) {
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  for (std::size_t begin = 1; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

// Any absolute directory: usually below /workspace or /tmp, but also one that the image brings.
void read_working_dir(const Field& field, std::string& working_dir) {
  auto path = field.as_text({.least = 1, .most = kPathBytes});
  if (!path) return;
  if (!is_normalized_absolute(*path)) {
    field.add_fault("bad_format",
                    "an absolute path without empty, \".\" or \"..\" parts and without a final '/'");
    return;
  }
  working_dir = *std::move(path);
}

}  // namespace

void read_process(ObjectReader& fields, TaskSpec& spec) {
  read_command_or_script(fields, spec);
  read_env(fields.optional("env"), spec.env);
  check_exec_bytes(spec, fields);
  read_working_dir(fields.optional("working_dir"), spec.working_dir);
  take(spec.stdin_data, read_bytes(fields, "stdin", "stdin_base64", {.most = kStdinBytes}));
}

}  // namespace mayfly::spec_parts

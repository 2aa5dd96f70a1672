#include <array>

#include "channel/message_fields.hpp"
#include "channel/messages.hpp"

namespace mayfly::channel {
namespace {

constexpr std::array<std::pair<PutTarget, std::string_view>, 4> kTargets{
    {{PutTarget::workspace, "workspace"},
     {PutTarget::spec, "spec"},
     {PutTarget::standard_input, "stdin"},
     {PutTarget::script, "script"}}};
constexpr JsonLimits kSpecLimits{.bytes = 8U << 20U, .depth = 8, .values = 8192};

PutTarget read_target(FieldReader& read) {
  const std::string text = read.text("to");
  for (const auto& [target, name] : kTargets) {
    if (name == text) return target;
  }
  read.refuse("to \"" + text + "\" is unknown");
  return PutTarget::spec;
}

std::vector<std::string> read_argv(FieldReader& read) {
  std::vector<std::string> argv;
  for (const Json& element : read.array("argv")) {
    auto argument = bytes_from_json(element);
    if (!argument) {
      read.refuse("argv holds something that is " + argument.error().message);
      return {};
    }
    argv.push_back(std::move(*argument));
  }
  return argv;
}

std::map<std::string, std::string> read_env(FieldReader& read) {
  std::map<std::string, std::string> env;
  for (const auto& [name, element] : read.object("env").items()) {
    auto value = bytes_from_json(element);
    if (!value) {
      read.refuse("env holds something that is " + value.error().message);
      return {};
    }
    env.emplace(name, std::move(*value));
  }
  return env;
}

}  // namespace

std::string Put::members() const {
  Json object{{"to", kTargets.at(static_cast<std::size_t>(target)).second}, {"off", offset}};
  if (target == PutTarget::workspace) {
    object["path"] = bytes_to_json(path);
    object["mode"] = mode;
  }
  return members_of(object);
}

Result<Put> parse_put(const Json& body) {
  FieldReader read(body);
  Put put{.target = read_target(read), .path = {}, .mode = 0644, .offset = read.count("off")};
  if (put.target == PutTarget::workspace) {
    put.path = read.bytes("path");
    put.mode = static_cast<std::uint32_t>(read.count("mode"));
  }
  return read.finish("put", std::move(put));
}

std::string dump_bind_spec(const BindSpec& spec) {
  Json argv = Json::array();
  for (const std::string& argument : spec.argv) argv.push_back(bytes_to_json(argument));
  Json env = Json::object();
  for (const auto& [name, value] : spec.env) env[name] = bytes_to_json(value);
  return dump_json(Json{{"argv", std::move(argv)},
                        {"script", spec.script},
                        {"env", std::move(env)},
                        {"cwd", bytes_to_json(spec.working_dir)},
                        {"stdin", spec.has_stdin},
                        {"open_files", spec.open_files},
                        {"file_size", spec.file_size},
                        {"run_ms", spec.run_ms},
                        {"idle_ms", spec.idle_ms},
                        {"cpu_ms", spec.cpu_ms},
                        {"stop_ms", spec.stop_ms},
                        {"log_bytes", spec.log_bytes},
                        {"truncate_log", spec.truncate_log},
                        {"lease_ms", spec.lease_ms},
                        {"spool_bytes", spec.spool_bytes}});
}

Result<BindSpec> parse_bind_spec(std::string_view text) {
  const auto json = parse_json(text, kSpecLimits);
  if (!json) return fail(ErrorCode::protocol, "channel: bind spec: " + json.error().message);
  FieldReader read(*json);
  BindSpec spec;
  spec.argv = read_argv(read);
  spec.script = read.flag("script");
  spec.env = read_env(read);
  spec.working_dir = read.bytes("cwd");
  spec.has_stdin = read.flag("stdin");
  spec.open_files = read.count("open_files");
  spec.file_size = read.count("file_size");
  spec.run_ms = read.integer("run_ms");
  spec.idle_ms = read.integer("idle_ms");
  spec.cpu_ms = read.integer("cpu_ms");
  spec.stop_ms = read.integer("stop_ms");
  spec.log_bytes = read.count("log_bytes");
  spec.truncate_log = read.flag("truncate_log");
  spec.lease_ms = read.integer("lease_ms");
  spec.spool_bytes = read.count("spool_bytes");
  if (spec.script == !spec.argv.empty()) read.refuse("exactly one of argv and script");
  return read.finish("bind spec", std::move(spec));
}

std::string Bind::members() const {
  return members_of({{"attempt", attempt}, {"spec_bytes", spec_bytes}, {"spec_crc", spec_crc}});
}

Result<Bind> parse_bind(const Json& body) {
  FieldReader read(body);
  Bind bind{.attempt = read.text("attempt"),
            .spec_bytes = read.count("spec_bytes"),
            .spec_crc = static_cast<std::uint32_t>(read.count("spec_crc"))};
  return read.finish("bind", std::move(bind));
}

}  // namespace mayfly::channel

#include <algorithm>

#include "base/utf8.hpp"
#include "docker_api/engine_error.hpp"
#include "docker_api/parse_answers.hpp"
#include "docker_api/parse_fields.hpp"

namespace mayfly::docker {

namespace {

// A thousand containers make a list of about 2 MiB.
constexpr JsonLimits kAnswerLimits{.bytes = kMostAnswer, .depth = 64, .values = 1'000'000};

// "DriverStatus": [["Backing Filesystem", "extfs"], …]
std::string driver_status(const Json& pairs, std::string_view name) {
  for (const Json& pair : pairs) {
    const bool is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string();
    if (is_pair && pair[0].get_ref<const std::string&>() == name) return pair[1].get<std::string>();
  }
  return {};
}

bool is_image_id(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view last_line(std::string_view body) {
  body = body.substr(0, body.find_last_not_of("\r\n") + 1);
  const std::size_t border = body.rfind('\n');
  return border == std::string_view::npos ? body : body.substr(border + 1);
}

}  // namespace

Result<Json> parse_body(std::string_view body) {
  auto json = parse_json(body, kAnswerLimits);
  if (json) return json;
  return fail(ErrorCode::protocol, "the engine's answer is no readable JSON: " + json.error().message);
}

Result<VersionInfo> parse_version(const Json& answer) {
  Fields fields(answer, "its version");
  VersionInfo version;
  version.version = fields.text("Version");
  version.api_version = fields.text("ApiVersion");
  version.min_api_version = fields.text("MinAPIVersion");
  version.os = fields.text("Os");
  version.arch = fields.text("Arch");
  version.kernel = fields.text("KernelVersion");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return version;
}

Result<SystemInfo> parse_info(Json answer) {
  Fields fields(answer, "itself");
  SystemInfo info;
  info.storage_driver = fields.text("Driver");
  info.backing_filesystem = driver_status(fields.list("DriverStatus"), "Backing Filesystem");
  info.cgroup_driver = fields.text("CgroupDriver");
  info.cgroup_version = fields.text("CgroupVersion");
  info.default_runtime = fields.text("DefaultRuntime");
  info.name = fields.text("Name");
  info.security_options = fields.texts("SecurityOptions");
  info.runtimes = fields.keys("Runtimes");
  info.processors = fields.integer("NCPU");
  info.memory = fields.integer("MemTotal");
  info.live_restore = fields.flag("LiveRestoreEnabled");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  info.raw = std::move(answer);
  return info;
}

Result<ImageInspect> parse_image(const Json& answer) {
  Fields fields(answer, "the image");
  Fields config(fields.object("Config"), "the image's configuration");
  ImageInspect image;
  image.id = fields.required_text("Id");
  image.os = fields.text("Os");
  image.architecture = fields.text("Architecture");
  image.repo_tags = fields.texts("RepoTags");
  image.repo_digests = fields.texts("RepoDigests");
  image.env = config.texts("Env");
  image.volumes = config.keys("Volumes");
  image.entrypoint = config.texts("Entrypoint");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  if (auto read = config.check(); !read) return fail_with(std::move(read));
  return image;
}

Result<std::string> parse_import(std::string_view body) {
  auto line = parse_body(last_line(body));
  if (!line) return fail_with(std::move(line));
  Fields fields(*line, "the imported image");
  const std::string error = fields.text("error");
  std::string id = fields.text("status");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  if (!error.empty())
    return fail(ErrorCode::engine_refused, "the engine did not import the image: " + shown_text(error));
  if (!is_image_id(id))
    return fail(ErrorCode::protocol, "the engine's answer to the import names no image id");
  return id;
}

}  // namespace mayfly::docker

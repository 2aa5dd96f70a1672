#include "fake_engine_client.hpp"

#include <algorithm>

namespace mayfly::test {
namespace {

using docker::RemoveOutcome;

tl::unexpected<Error> no_such(const std::string& kind, const std::string& name) {
  return fail(ErrorCode::not_found, "No such " + kind + ": " + name);
}

// "key" or "key=value".
bool has_label(const docker::Labels& labels, const std::string& filter) {
  const std::size_t equals = filter.find('=');
  const auto found = labels.find(filter.substr(0, equals));
  return found != labels.end() && (equals == std::string::npos || found->second == filter.substr(equals + 1));
}

Json shown_mounts(const docker::ContainerConfig& config) {
  Json mounts = Json::array();
  for (const docker::Mount& mount : config.mounts) {
    mounts.push_back({{"Type", "volume"},
                      {"Name", mount.volume},
                      {"Source", "/var/lib/docker/volumes/" + mount.volume + "/_data"},
                      {"Destination", mount.target},
                      {"Driver", "local"},
                      {"Mode", "z"},
                      {"RW", !mount.read_only},
                      {"Propagation", ""}});
  }
  return mounts;
}

}  // namespace

FakeEngineClient::FakeEngineClient() {
  version = {"20.10.24+dfsg1", "1.41", "1.12", "linux", "amd64", "6.1"};
  system.storage_driver = "overlay2";
  system.backing_filesystem = "extfs";
  system.cgroup_version = "1";
  system.default_runtime = "runc";
  system.security_options = {"name=seccomp,profile=default"};
  system.processors = 2;
  system.memory = 8LL << 30U;
}

void FakeEngineClient::fail_once(std::string call, ErrorCode code, Effect effect, std::string message) {
  failures_.emplace(std::move(call), Failure{Error{code, std::move(message)}, effect});
}

bool FakeEngineClient::called(const std::string& call) const {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

void FakeEngineClient::add_image(const std::string& reference, docker::ImageInspect image) {
  images[image.id] = image;
  images[reference] = std::move(image);
}

void FakeEngineClient::add_container(const std::string& name, docker::Labels labels) {
  Container container;
  container.id = "foreign" + std::to_string(next_id_++);
  container.labels = std::move(labels);
  containers[name] = std::move(container);
}

void FakeEngineClient::end_container(const std::string& name, int exit_code, bool oom_killed) {
  Container& container = containers.at(name);
  container.state = "exited";
  container.exit_code = exit_code;
  container.oom_killed = oom_killed;
}

void FakeEngineClient::note(const std::string& call, const std::string& name) {
  calls.push_back(name.empty() ? call : call + " " + name);
}

std::optional<FakeEngineClient::Failure> FakeEngineClient::take_failure(const std::string& call) {
  const auto found = failures_.find(call);
  if (found == failures_.end()) return std::nullopt;
  Failure failure = std::move(found->second);
  failures_.erase(found);
  return failure;
}

FakeEngineClient::Container* FakeEngineClient::find(const std::string& name) {
  const auto found = containers.find(name);
  if (found == containers.end()) return nullptr;
  if (found->second.hidden_looks > 0) {
    --found->second.hidden_looks;
    return nullptr;
  }
  return &found->second;
}

Json FakeEngineClient::raw_inspect(const std::string& name, const Container& container) const {
  Json config = to_json(container.config);
  Json host = config["HostConfig"];
  config.erase("HostConfig");
  config["Labels"] = container.labels;
  config["Volumes"] = nullptr;
  host["Links"] = nullptr;
  host["ConsoleSize"] = {0, 0};
  if (host["Runtime"] == "") host["Runtime"] = system.default_runtime;
  Json raw{{"Id", container.id},
           {"Name", "/" + name},
           {"Image", container.config.image},
           {"Config", std::move(config)},
           {"HostConfig", std::move(host)},
           {"Mounts", shown_mounts(container.config)}};
  raw["NetworkSettings"]["Networks"][container.config.network_mode] = Json::object();
  if (tamper_inspect) tamper_inspect(raw);
  return raw;
}

Async<docker::VersionInfo> FakeEngineClient::negotiate(Deadline) {
  note("negotiate", "");
  if (auto failure = take_failure("negotiate")) co_return tl::unexpected(failure->error);
  co_return version;
}

Async<> FakeEngineClient::ping(Deadline) {
  note("ping", "");
  co_return Result<>{};
}

Async<docker::SystemInfo> FakeEngineClient::info(Deadline) {
  note("info", "");
  co_return system;
}

Async<docker::ImageInspect> FakeEngineClient::inspect_image(std::string reference, Deadline) {
  note("inspect_image", reference);
  const auto found = images.find(reference);
  if (found == images.end()) co_return no_such("image", reference);
  co_return found->second;
}

Async<docker::Created> FakeEngineClient::create_container(std::string name, docker::ContainerConfig config,
                                                          Deadline) {
  note("create_container", name);
  const auto failure = take_failure("create_container");
  if (failure && failure->effect == Effect::none) co_return tl::unexpected(failure->error);
  if (containers.contains(name)) co_return fail(ErrorCode::conflict, "name is in use: " + name);
  if (!images.contains(config.image)) co_return no_such("image", config.image);
  Container container;
  container.id = "id" + std::to_string(next_id_++);
  container.labels = config.labels;
  container.labels.insert(image_labels.begin(), image_labels.end());
  container.config = std::move(config);
  container.hidden_looks = hidden_looks_after_create;
  container.nameless_removals = nameless_removals_after_create;
  containers[name] = container;
  if (failure) co_return tl::unexpected(failure->error);
  co_return docker::Created{container.id, create_warnings};
}

Async<docker::ContainerInspect> FakeEngineClient::inspect_container(std::string name, Deadline) {
  note("inspect_container", name);
  if (auto failure = take_failure("inspect_container")) co_return tl::unexpected(failure->error);
  const Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  docker::ContainerInspect inspect;
  inspect.id = container->id;
  inspect.name = name;
  inspect.labels = container->labels;
  inspect.state.status = container->state;
  inspect.state.exit_code = container->exit_code;
  inspect.state.oom_killed = container->oom_killed;
  inspect.raw = raw_inspect(name, *container);
  co_return inspect;
}

Async<std::unique_ptr<docker::AttachStream>> FakeEngineClient::attach(std::string name, Deadline) {
  note("attach", name);
  co_return fail(ErrorCode::engine_refused, "the fake engine has no streams");
}

Async<> FakeEngineClient::start_container(std::string name, Deadline) {
  note("start_container", name);
  Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  container->state = "running";
  co_return Result<>{};
}

Async<int> FakeEngineClient::wait_container(std::string name, Deadline) {
  note("wait_container", name);
  const Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  co_return container->exit_code.value_or(0);
}

Async<> FakeEngineClient::kill_container(std::string name, std::string signal, Deadline) {
  note("kill_container", name + " " + signal);
  if (find(name) == nullptr) co_return no_such("container", name);
  end_container(name, 137, false);
  co_return Result<>{};
}

Async<std::vector<std::string>> FakeEngineClient::update_container(std::string name,
                                                                   docker::UpdateConfig config, Deadline) {
  note("update_container", name);
  Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  if (config.nano_cpus) container->config.nano_cpus = *config.nano_cpus;
  co_return std::vector<std::string>{};
}

Async<RemoveOutcome> FakeEngineClient::remove_container(std::string name, Deadline) {
  note("remove_container", name);
  if (auto failure = take_failure("remove_container")) co_return tl::unexpected(failure->error);
  Container* container = find(name);
  if (container == nullptr || container->nameless_removals-- > 0) co_return RemoveOutcome::already_gone;
  containers.erase(name);
  co_return RemoveOutcome::removed;
}

Async<std::vector<docker::ContainerSummary>> FakeEngineClient::list_containers(std::string label, Deadline) {
  note("list_containers", label);
  std::vector<docker::ContainerSummary> listed;
  for (auto& [name, container] : containers) {
    if (!has_label(container.labels, label) || find(name) == nullptr) continue;
    const std::string shown = container.state == "removing" ? "" : name;
    listed.push_back({container.id, shown, container.state, container.labels});
  }
  co_return listed;
}

Async<docker::VolumeInfo> FakeEngineClient::create_volume(docker::VolumeConfig config, Deadline) {
  note("create_volume", config.name);
  if (config.options.contains("size")) co_return fail(ErrorCode::invalid_argument, "no quota support");
  const auto failure = take_failure("create_volume");
  if (failure && failure->effect == Effect::none) co_return tl::unexpected(failure->error);
  Volume volume;
  volume.info = {config.name, "local", "/volumes/" + config.name, config.options, config.labels};
  const auto kept = volumes.emplace(config.name, std::move(volume)).first;
  if (failure) co_return tl::unexpected(failure->error);
  co_return kept->second.info;
}

Async<docker::VolumeInfo> FakeEngineClient::inspect_volume(std::string name, Deadline) {
  note("inspect_volume", name);
  const auto found = volumes.find(name);
  if (found == volumes.end()) co_return no_such("volume", name);
  co_return found->second.info;
}

Async<RemoveOutcome> FakeEngineClient::remove_volume(std::string name, Deadline) {
  note("remove_volume", name);
  if (auto failure = take_failure("remove_volume")) co_return tl::unexpected(failure->error);
  for (const auto& [container, details] : containers) {
    for (const docker::Mount& mount : details.config.mounts) {
      if (mount.volume == name) co_return fail(ErrorCode::conflict, "volume is in use by " + container);
    }
  }
  co_return volumes.erase(name) == 1 ? RemoveOutcome::removed : RemoveOutcome::already_gone;
}

Async<std::vector<docker::VolumeInfo>> FakeEngineClient::list_volumes(std::string label, Deadline) {
  note("list_volumes", label);
  std::vector<docker::VolumeInfo> listed;
  for (const auto& [name, volume] : volumes) {
    if (has_label(volume.info.labels, label)) listed.push_back(volume.info);
  }
  co_return listed;
}

Async<> FakeEngineClient::put_archive(std::string name, std::string path, std::string tar, Deadline) {
  note("put_archive", name + " " + path);
  Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  Volume& volume = volumes.at(container->config.mounts.at(0).volume);
  for (TarEntry& entry : read_tar(tar)) volume.files.push_back(std::move(entry));
  co_return Result<>{};
}

Async<std::string> FakeEngineClient::get_archive(std::string name, std::string path, std::size_t limit,
                                                 Deadline) {
  note("get_archive", name + " " + path);
  Container* container = find(name);
  if (container == nullptr) co_return no_such("container", name);
  const std::string directory = path.substr(1) + "/";
  std::vector<TarEntry> entries{{TarEntry::Kind::directory, directory, "", 0755, 0}};
  for (TarEntry file : volumes.at(container->config.mounts.at(0).volume).files) {
    file.path = directory + file.path;
    entries.push_back(std::move(file));
  }
  std::string tar = build_tar(entries);
  if (tar.size() > limit) co_return fail(ErrorCode::protocol, "longer than asked for");
  co_return tar;
}

Async<std::string> FakeEngineClient::import_image(std::string repository, std::string tag, std::string tar,
                                                  Deadline) {
  const std::string reference = repository + ":" + tag;
  note("import_image", reference);
  docker::ImageInspect image;
  image.id = "sha256:" + std::to_string(tar.size());
  image.os = "linux";
  image.architecture = "amd64";
  add_image(reference, image);
  co_return image.id;
}

}  // namespace mayfly::test

// A Docker Engine in memory, for tests of the Docker backend: it keeps images, volumes and containers as the
// engine does (names that conflict, old options of an existing volume, images whose labels merge in), and
// misbehaves on request in the ways that were seen of real ones.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "docker_api/engine_client.hpp"
#include "tar_builder.hpp"

namespace mayfly::test {

class FakeEngineClient final : public docker::EngineClient {
 public:
  struct Container {
    std::string id;
    docker::ContainerConfig config;
    docker::Labels labels;  // with the image's
    std::string state = "created";
    std::optional<int> exit_code;
    bool oom_killed = false;
    int nameless_removals = 0;  // listed, but so many removals by name find nothing: a create in progress
    int hidden_looks = 0;       // a create in progress: inspect and list do not show it so many times yet
  };
  struct Volume {
    docker::VolumeInfo info;
    std::vector<TarEntry> files;
  };

  FakeEngineClient();

  // The engine's state.
  docker::VersionInfo version;
  docker::SystemInfo system;
  std::map<std::string, docker::ImageInspect> images;  // by reference and by id
  docker::Labels image_labels;                         // of every image
  std::map<std::string, Container> containers;
  std::map<std::string, Volume> volumes;
  std::vector<std::string> calls;  // "create_container mayfly-…", in order

  // Misbehaviour. A failure is used up by one call of that name; `effect` says whether the engine did it all
  // the same.
  enum class Effect { none, done };
  void fail_once(std::string call, ErrorCode code, Effect effect = Effect::none,
                 std::string message = "scripted");
  std::vector<std::string> create_warnings;
  std::function<void(Json&)> tamper_inspect;  // of a container's raw answer
  int hidden_looks_after_create = 0;
  int nameless_removals_after_create = 0;

  bool called(const std::string& call) const;
  void add_image(const std::string& reference, docker::ImageInspect image);
  void add_container(const std::string& name, docker::Labels labels);
  void end_container(const std::string& name, int exit_code, bool oom_killed);

  Async<docker::VersionInfo> negotiate(Deadline deadline) override;
  std::string agreed_version() const override { return "1.41"; }
  Async<> ping(Deadline deadline) override;
  Async<docker::SystemInfo> info(Deadline deadline) override;
  Async<docker::ImageInspect> inspect_image(std::string reference, Deadline deadline) override;
  Async<docker::Created> create_container(std::string name, docker::ContainerConfig config,
                                          Deadline deadline) override;
  Async<docker::ContainerInspect> inspect_container(std::string name, Deadline deadline) override;
  Async<std::unique_ptr<docker::AttachStream>> attach(std::string name, Deadline deadline) override;
  Async<> start_container(std::string name, Deadline deadline) override;
  Async<int> wait_container(std::string name, Deadline deadline) override;
  Async<> kill_container(std::string name, std::string signal, Deadline deadline) override;
  Async<std::vector<std::string>> update_container(std::string name, docker::UpdateConfig config,
                                                   Deadline deadline) override;
  Async<docker::RemoveOutcome> remove_container(std::string name, Deadline deadline) override;
  Async<std::vector<docker::ContainerSummary>> list_containers(std::string label, Deadline deadline) override;
  Async<docker::VolumeInfo> create_volume(docker::VolumeConfig config, Deadline deadline) override;
  Async<docker::VolumeInfo> inspect_volume(std::string name, Deadline deadline) override;
  Async<docker::RemoveOutcome> remove_volume(std::string name, Deadline deadline) override;
  Async<std::vector<docker::VolumeInfo>> list_volumes(std::string label, Deadline deadline) override;
  Async<> put_archive(std::string name, std::string path, std::string tar, Deadline deadline) override;
  Async<std::string> get_archive(std::string name, std::string path, std::size_t limit,
                                 Deadline deadline) override;
  Async<std::string> import_image(std::string repository, std::string tag, std::string tar,
                                  Deadline deadline) override;

 private:
  struct Failure {
    Error error;
    Effect effect;
  };
  void note(const std::string& call, const std::string& name);
  std::optional<Failure> take_failure(const std::string& call);
  Container* find(const std::string& name);
  Json raw_inspect(const std::string& name, const Container& container) const;

  std::multimap<std::string, Failure> failures_;
  int next_id_ = 1;
};

}  // namespace mayfly::test

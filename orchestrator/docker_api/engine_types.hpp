// Typed request bodies and answers of Docker's Engine API (1.41 and 1.44 to 1.52), as far as Mayfly uses it.
// Nothing of our domain is known here. Bodies are built from these structs only: keys of the API are
// case-insensitive and unknown ones pass silently, so nothing that a user wrote may become a key. Pure
// values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mayfly::docker {

using Labels = std::map<std::string, std::string>;

struct Ulimit {
  std::string name;
  std::int64_t soft = 0, hard = 0;
  friend bool operator==(const Ulimit&, const Ulimit&) = default;
};

struct Mount {
  std::string volume;  // name
  std::string target;
  bool read_only = false;
  friend bool operator==(const Mount&, const Mount&) = default;
};

// POST /containers/create. Every field is always sent, so that nothing of the image or of the engine's
// defaults acts.
struct ContainerConfig {
  std::string image;  // an id
  std::string user, working_dir, hostname;
  std::vector<std::string> entrypoint, cmd;
  std::vector<std::string> env;  // "K=V", or "K" alone, which removes the image's value
  Labels labels;
  std::string stop_signal = "SIGTERM";
  int stop_timeout_s = 10;
  bool open_stdin = true;
  // HostConfig
  std::string network_mode = "none", ipc_mode = "private", cgroupns_mode = "private", runtime;
  bool read_only_root = true;
  std::vector<std::string> cap_drop{"ALL"}, security_opt;
  std::int64_t memory = 0, memory_swap = 0, nano_cpus = 0, cpu_shares = 0, pids_limit = 0, shm_size = 0;
  std::optional<std::int64_t> memory_swappiness;  // cgroup v1 only
  int oom_score_adj = 0;
  std::vector<Ulimit> ulimits;
  std::map<std::string, std::string> tmpfs;  // path → options
  std::vector<Mount> mounts;
  std::vector<std::string> dns, dns_search;
  std::vector<std::string> masked_paths, read_only_paths;  // each empty: the engine's own list, never none
  std::string log_driver = "none", cgroup_parent;
};
Json to_json(const ContainerConfig& config);

// POST /volumes/create, driver local.
struct VolumeConfig {
  std::string name;
  std::map<std::string, std::string> options;
  Labels labels;
};
Json to_json(const VolumeConfig& config);

struct VersionInfo {
  std::string version, api_version, min_api_version, os, arch, kernel;
};

struct SystemInfo {
  std::string storage_driver, backing_filesystem, cgroup_driver, cgroup_version, default_runtime, name;
  std::vector<std::string> security_options, runtimes;
  std::int64_t processors = 0, memory = 0;
  bool live_restore = false;
  Json raw;
};

struct ContainerState {
  std::string status;  // created, running, paused, restarting, removing, exited, dead
  std::int64_t pid = 0;
  std::optional<int> exit_code;  // absent unless it has exited
  bool oom_killed = false;
  std::string error, started_at, finished_at;
};

struct ContainerInspect {
  std::string id, name, image;
  ContainerState state;
  Labels labels;
  Json raw;  // the whole answer, for comparing with what was asked
};

struct ContainerSummary {
  std::string id, name, state;
  Labels labels;
};

struct VolumeInfo {
  std::string name, driver, mountpoint;
  std::map<std::string, std::string> options;
  Labels labels;
};

struct ImageInspect {
  std::string id, os, architecture;
  std::vector<std::string> repo_tags, repo_digests, env, volumes, entrypoint;
};

struct Created {
  std::string id;
  std::vector<std::string> warnings;
};

// POST /containers/{id}/update. Ulimits, ShmSize, CgroupParent and Labels would be ignored with a 200: not
// here.
struct UpdateConfig {
  std::optional<std::int64_t> memory, memory_swap, nano_cpus, pids_limit;
};
Json to_json(const UpdateConfig& config);

}  // namespace mayfly::docker

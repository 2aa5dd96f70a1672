// What a connected engine is, as far as the profile and its checks depend on it. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "docker_api/engine_types.hpp"

namespace mayfly::docker {

struct EngineFacts {
  std::string version;       // of the engine, for people
  std::string architecture;  // Docker's word: amd64, arm64
  int cgroup_version = 1;
  bool apparmor = false;
  std::string default_runtime;  // what inspect shows where create said ""
  std::int64_t processors = 1;
  Bytes memory{};
  std::string seccomp_profile;  // ours, inline
};

// forbidden when the engine cannot hold the profile: no seccomp, or an engine told to run everything
// unconfined; also a kernel other than Linux or a processor that we have no system call table for.
Result<EngineFacts> assess_engine(const VersionInfo& version, const SystemInfo& info);

// One sentence for each published weakness that this version number had. Distributions backport fixes without
// raising the number, so it is advice, never a refusal.
std::vector<std::string> list_advisories(const std::string& engine_version);

}  // namespace mayfly::docker

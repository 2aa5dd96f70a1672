// Compares what an engine says it made with what was asked of it. Keys of the API are case-insensitive and
// unknown ones pass silently, values that a kernel cannot do are dropped with a warning: so nothing is
// believed before this. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "docker_api/engine_types.hpp"
#include "runtime/docker/engine_facts.hpp"

namespace mayfly::docker {

struct Difference {
  std::string field;  // "HostConfig.PidsLimit"
  std::string wanted, found;
  friend bool operator==(const Difference&, const Difference&) = default;
};

// Labels that the image adds are no difference, nor a variable that is sent without a value and then not
// shown; any other value that was not asked for is one. With Labels::ignored our own labels are not compared
// (for adoption, where the signature is checked instead).
enum class CompareLabels { compared, ignored };
std::vector<Difference> compare_container(const std::string& name, const ContainerConfig& wanted,
                                          const Json& inspect, const EngineFacts& engine,
                                          CompareLabels labels);
std::vector<Difference> compare_volume(const VolumeConfig& wanted, const VolumeInfo& found,
                                       CompareLabels labels);

// "HostConfig.PidsLimit: wanted 132, found null", at most five of them, each value cut to 200 bytes.
std::string describe(const std::vector<Difference>& differences);

}  // namespace mayfly::docker

#include "runtime/docker/profile_check.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace mayfly::docker {
namespace {

using Differences = std::vector<Difference>;

// The engine writes "nothing" as null, zero, false, "", [], {} or [0, 0], as it likes. An object with members
// is something whatever they are: {"/data": {}} is a volume.
bool is_nothing(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return true;
    case Json::value_t::boolean:
      return !value.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return value == 0;
    case Json::value_t::string:
      return value.get_ref<const std::string&>().empty();
    case Json::value_t::array:
      return std::all_of(value.begin(), value.end(), [](const Json& element) { return element == 0; });
    case Json::value_t::object:
      return value.empty();
    default:
      return false;
  }
}

const Json& member(const Json& object, const std::string& key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

void expect(Differences& differences, const std::string& field, const Json& wanted, const Json& found) {
  if (wanted == found || (is_nothing(wanted) && is_nothing(found))) return;
  differences.push_back({field, dump_json(wanted), dump_json(found)});
}

// Without the members that say nothing, at every depth: {"Type":"volume","ReadOnly":false} is
// {"Type":"volume"}.
Json without_nothing(const Json& value) {
  if (value.is_array()) {
    Json kept = Json::array();
    for (const Json& element : value) kept.push_back(without_nothing(element));
    return kept;
  }
  if (!value.is_object()) return value;
  Json kept = Json::object();
  for (const auto& [key, inner] : value.items()) {
    if (!is_nothing(inner)) kept[key] = without_nothing(inner);
  }
  return kept;
}

// Lists whose order means nothing (mounts, ulimits).
Json as_set(const Json& value) {
  if (!value.is_array()) return value;
  Json sorted = without_nothing(value);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// "K=V" entries must be the same; a bare "K" (remove) may be shown or not.
void expect_env(Differences& differences, const Json& wanted, const Json& found) {
  const auto allowed = is_nothing(wanted) ? std::set<std::string>() : wanted.get<std::set<std::string>>();
  std::set<std::string> shown;
  if (found.is_array()) {
    for (const Json& entry : found)
      shown.insert(entry.is_string() ? entry.get<std::string>() : dump_json(entry));
  }
  const bool nothing_more = std::includes(allowed.begin(), allowed.end(), shown.begin(), shown.end());
  const bool all_values = std::all_of(allowed.begin(), allowed.end(), [&](const std::string& entry) {
    return entry.find('=') == std::string::npos || shown.contains(entry);
  });
  if (!nothing_more || !all_values)
    differences.push_back({"Config.Env", dump_json(wanted), dump_json(found)});
}

void expect_labels(Differences& differences, const Labels& wanted, const Json& found) {
  for (const auto& [key, value] : wanted)
    expect(differences, "Config.Labels." + key, value, member(found, key));
}

// The image's declarations stay in sight; each must lie under a mount of ours (compare_mounts sees what is
// mounted).
void expect_covered(Differences& differences, const ContainerConfig& wanted, const Json& found) {
  if (!found.is_object()) return;
  for (const auto& item : found.items()) {
    const bool covered = wanted.tmpfs.contains(item.key()) ||
                         std::any_of(wanted.mounts.begin(), wanted.mounts.end(),
                                     [&](const Mount& mount) { return mount.target == item.key(); });
    if (!covered) differences.push_back({"Config.Volumes", "covered by a mount", item.key()});
  }
}

// The members of the create body beside HostConfig, which inspect shows under Config.
void compare_config(Differences& differences, const ContainerConfig& wanted_config, const Json& body,
                    const Json& found) {
  for (const auto& [key, wanted] : body.items()) {
    if (key == "HostConfig" || key == "Labels") continue;
    if (key == "Volumes") {
      expect_covered(differences, wanted_config, member(found, key));
    } else if (key == "Healthcheck") {
      // The image's interval stays in sight beside the test NONE, which runs nothing.
      expect(differences, "Config.Healthcheck", member(wanted, "Test"), member(member(found, key), "Test"));
    } else if (key == "Env") {
      expect_env(differences, wanted, member(found, key));
    } else {
      expect(differences, "Config." + key, wanted, member(found, key));
    }
  }
}

void compare_host_config(Differences& differences, const Json& wanted, const Json& found,
                         const EngineFacts& engine) {
  std::set<std::string> keys;
  for (const Json* side : {&wanted, &found}) {
    if (!side->is_object()) continue;
    for (const auto& item : side->items()) keys.insert(item.key());
  }
  for (const std::string& key : keys) {
    const std::string field = "HostConfig." + key;
    const Json& asked = member(wanted, key);
    const Json& shown = member(found, key);
    if (key == "Runtime" && is_nothing(asked)) {
      if (shown != engine.default_runtime) expect(differences, field, asked, shown);
    } else {
      expect(differences, field, as_set(asked), as_set(shown));
    }
  }
}

// What is really mounted, beside what was asked: a volume of the image that is not covered would show here.
void compare_mounts(Differences& differences, const ContainerConfig& wanted, const Json& found) {
  std::map<std::string, std::string> expected, shown;
  for (const Mount& mount : wanted.mounts) {
    expected[mount.target] = "volume " + mount.volume + (mount.read_only ? " ro" : " rw");
  }
  for (const Json& mount : found.is_array() ? found : Json::array()) {
    const Json& target = member(mount, "Destination");
    const Json& type = member(mount, "Type");
    const std::string path = target.is_string() ? target.get<std::string>() : dump_json(target);
    if (type == "tmpfs" && wanted.tmpfs.contains(path)) continue;
    const Json& name = member(mount, "Name");
    shown[path] = (type.is_string() ? type.get<std::string>() : "?") + " " +
                  (name.is_string() ? name.get<std::string>() : "") +
                  (member(mount, "RW") == Json(false) ? " ro" : " rw");
  }
  if (shown != expected) differences.push_back({"Mounts", dump_json(expected), dump_json(shown)});
}

void compare_networks(Differences& differences, const ContainerConfig& wanted, const Json& inspect) {
  const Json& networks = member(member(inspect, "NetworkSettings"), "Networks");
  if (!networks.is_object()) return;
  for (const auto& item : networks.items()) {
    expect(differences, "NetworkSettings.Networks", wanted.network_mode, item.key());
  }
}

std::string cut(const std::string& value) {
  return value.size() <= 200 ? value : value.substr(0, 200) + "…";
}

}  // namespace

std::vector<Difference> compare_container(const std::string& name, const ContainerConfig& wanted,
                                          const Json& inspect, const EngineFacts& engine,
                                          CompareLabels labels) {
  Differences differences;
  const Json body = to_json(wanted);
  const Json& config = member(inspect, "Config");
  expect(differences, "Name", "/" + name, member(inspect, "Name"));
  expect(differences, "Image", wanted.image, member(inspect, "Image"));
  compare_config(differences, wanted, body, config);
  if (labels == CompareLabels::compared) expect_labels(differences, wanted.labels, member(config, "Labels"));
  compare_host_config(differences, member(body, "HostConfig"), member(inspect, "HostConfig"), engine);
  compare_mounts(differences, wanted, member(inspect, "Mounts"));
  compare_networks(differences, wanted, inspect);
  return differences;
}

std::vector<Difference> compare_volume(const VolumeConfig& wanted, const VolumeInfo& found,
                                       CompareLabels labels) {
  Differences differences;
  expect(differences, "Name", wanted.name, found.name);
  expect(differences, "Driver", "local", found.driver);
  expect(differences, "Options", wanted.options, found.options);
  if (labels == CompareLabels::compared) expect(differences, "Labels", wanted.labels, found.labels);
  return differences;
}

std::string describe(const std::vector<Difference>& differences) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(differences.size(), kShown); ++i) {
    const Difference& difference = differences[i];
    text += (i == 0 ? "" : "; ") + difference.field + ": wanted " + cut(difference.wanted) + ", found " +
            cut(difference.found);
  }
  if (differences.size() > kShown) text += "; and " + std::to_string(differences.size() - kShown) + " more";
  return text;
}

}  // namespace mayfly::docker

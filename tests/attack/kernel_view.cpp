#include "attack/kernel_view.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace mayfly::test {
namespace {

const std::string kAbsent = "absent";

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return kAbsent;
  std::ostringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

// proc(5): 36 35 98:0 /root /target flags [tags] - type source options
MountLine parse_mount(const std::string& line) {
  const std::size_t dash = line.find(" - ");
  const auto before = words(line.substr(0, dash));
  const auto after = words(line.substr(dash + 3));
  MountLine mount{before.at(3), before.at(4), before.at(5), after.at(0), {}};
  for (const std::string& option : split(after.at(2), ',')) {
    const std::size_t equals = option.find('=');
    mount.options[option.substr(0, equals)] = equals == std::string::npos ? "" : option.substr(equals + 1);
  }
  return mount;
}

std::vector<MountLine> read_mounts(const std::string& path) {
  std::vector<MountLine> mounts;
  for (const std::string& line : split(read_text(path), '\n')) mounts.push_back(parse_mount(line));
  return mounts;
}

// Of this machine: where a controller's hierarchy (or the one of v2) is mounted.
const MountLine* find_hierarchy(const std::vector<MountLine>& own, const std::string& controller, bool v2) {
  const auto found = std::find_if(own.begin(), own.end(), [&](const MountLine& mount) {
    return v2 ? mount.type == "cgroup2" : mount.type == "cgroup" && mount.options.contains(controller);
  });
  return found == own.end() ? nullptr : &*found;
}

std::string ratio_of(const std::string& quota, const std::string& period) {
  if (quota == kAbsent || quota == "max" || quota == "-1") return quota;
  return std::to_string(std::stoll(quota) * 1'000'000'000 / std::stoll(period));
}

}  // namespace

KernelView::KernelView(long pid)
    : base_("/proc/" + std::to_string(pid) + "/"), mounts_(read_mounts(base_ + "mountinfo")) {}

std::string KernelView::file(const std::string& name) const {
  return read_text(base_ + name);
}

std::string KernelView::root_file(const std::string& path) const {
  return read_text(base_ + "root" + path);
}

std::string KernelView::link(const std::string& name) const {
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(base_ + name, failed);
  return failed ? kAbsent : target.string();
}

std::string KernelView::status(const std::string& key) const {
  for (const std::string& line : split(file("status"), '\n')) {
    if (line.starts_with(key + ":")) return join(words(line.substr(key.size() + 1)));
  }
  return kAbsent;
}

std::string KernelView::limit(const std::string& name) const {
  for (const std::string& line : split(file("limits"), '\n')) {
    if (!line.starts_with(name + " ")) continue;
    const auto values = words(line.substr(name.size()));
    return values.at(0) + " " + values.at(1);
  }
  return kAbsent;
}

std::string KernelView::interfaces() const {
  std::vector<std::string> names;
  for (const std::string& line : split(file("net/dev"), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) names.push_back(words(line.substr(0, colon)).at(0));
  }
  return join(names);
}

std::vector<std::string> KernelView::environment_names() const {
  std::vector<std::string> names;
  for (const std::string& entry : split(file("environ"), '\0'))
    names.push_back(entry.substr(0, entry.find('=')));
  return names;
}

std::string KernelView::name_space(const std::string& kind) const {
  std::error_code failed;
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/" + kind, failed);
  const std::string theirs = link("ns/" + kind);
  if (failed || theirs == kAbsent) return kAbsent;
  return theirs == ours.string() ? "host" : "private";
}

std::string KernelView::mount(const std::string& target) const {
  // The last one mounted there is the one that is seen.
  const auto found = std::find_if(mounts_.rbegin(), mounts_.rend(),
                                  [&](const MountLine& line) { return line.target == target; });
  if (found == mounts_.rend()) return kAbsent;
  std::vector<std::string> shown;
  for (const std::string& flag : split(found->flags, ',')) {
    if (flag != "relatime") shown.push_back(flag);
  }
  for (const char* option : {"size", "nr_inodes", "mode", "uid", "gid"}) {
    const auto value = found->options.find(option);
    if (value != found->options.end()) shown.push_back(std::string(option) + "=" + value->second);
  }
  return join(shown);
}

bool KernelView::is_cgroup_v2() const {
  const auto lines = split(file("cgroup"), '\n');
  return lines.size() == 1 && lines.front().starts_with("0::");
}

std::string KernelView::cgroup(const std::string& controller, const std::string& name) const {
  const bool v2 = is_cgroup_v2();
  const auto own = read_mounts("/proc/self/mountinfo");
  const MountLine* hierarchy = find_hierarchy(own, controller, v2);
  if (hierarchy == nullptr) return kAbsent;
  for (const std::string& line : split(file("cgroup"), '\n')) {
    const auto parts = split(line, ':');
    const auto controllers = split(parts.at(1), ',');
    if (!v2 && std::find(controllers.begin(), controllers.end(), controller) == controllers.end()) continue;
    std::string path = line.substr(parts.at(0).size() + parts.at(1).size() + 2);
    if (hierarchy->root != "/" && path.starts_with(hierarchy->root)) path.erase(0, hierarchy->root.size());
    return read_text(hierarchy->target + path + "/" + name);
  }
  return kAbsent;
}

std::string KernelView::memory() const {
  return cgroup("memory", is_cgroup_v2() ? "memory.max" : "memory.limit_in_bytes");
}

std::string KernelView::memory_with_swap() const {
  if (!is_cgroup_v2()) return cgroup("memory", "memory.memsw.limit_in_bytes");
  const std::string swap = cgroup("memory", "memory.swap.max");
  if (swap == kAbsent || swap == "max" || memory() == "max") return swap;
  return std::to_string(std::stoll(memory()) + std::stoll(swap));
}

std::string KernelView::nano_cpus() const {
  if (!is_cgroup_v2()) return ratio_of(cgroup("cpu", "cpu.cfs_quota_us"), cgroup("cpu", "cpu.cfs_period_us"));
  const auto both = words(cgroup("cpu", "cpu.max"));
  return both.size() == 2 ? ratio_of(both[0], both[1]) : kAbsent;
}

}  // namespace mayfly::test

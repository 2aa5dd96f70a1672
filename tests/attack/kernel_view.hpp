// What the kernel says of one process of this machine and of its cgroup, v1 and v2, as text to compare. Every
// value that is not there is "absent".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mayfly::test {

struct MountLine {
  std::string root, target, flags, type;
  std::map<std::string, std::string> options;  // of the file system: size, nr_inodes, mode, uid, …
};

class KernelView {
 public:
  explicit KernelView(long pid);

  // A line of /proc/PID/status, with single spaces ("Uid" → "65532 65532 65532 65532").
  std::string status(const std::string& key) const;
  // A line of /proc/PID/limits as "soft hard" ("Max open files" → "1024 1024").
  std::string limit(const std::string& name) const;
  // A file of /proc/PID, without its final newline.
  std::string file(const std::string& name) const;
  std::string link(const std::string& name) const;
  std::string root_file(const std::string& path) const;  // a file as the process sees it
  std::string interfaces() const;                        // names in /proc/PID/net/dev
  std::vector<std::string> environment_names() const;
  // "private" when the process is in another namespace of this kind than we are.
  std::string name_space(const std::string& kind) const;

  const std::vector<MountLine>& mounts() const { return mounts_; }
  // The flags of a mount and the options of its tmpfs: "rw nosuid nodev size=64k …"; "absent" when nothing is
  // there.
  std::string mount(const std::string& target) const;

  bool is_cgroup_v2() const;
  // A file of the process's cgroup ("memory", "memory.limit_in_bytes"); for v2 the controller does not
  // matter.
  std::string cgroup(const std::string& controller, const std::string& name) const;

  // The limits, whatever version writes them how.
  std::string memory() const;
  std::string memory_with_swap() const;  // absent where the kernel does not account for swap
  std::string nano_cpus() const;
  std::string pids() const { return cgroup("pids", "pids.max"); }

 private:
  std::string base_;
  std::vector<MountLine> mounts_;
};

}  // namespace mayfly::test

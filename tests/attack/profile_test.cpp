// The container profile on a live sandbox of a real engine: each field as it was wanted, as inspect shows it
// and as the kernel holds it. What is wanted is written out here by hand and not taken from the code under
// test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "attack/kernel_view.hpp"
#include "attack/profile_table.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "support/docker_node.hpp"
#include "support/greet_runner.hpp"

using namespace mayfly;
using test::DockerNode;
using test::KernelView;
using test::ProfileTable;

namespace {

struct LiveSandbox {
  explicit LiveSandbox(DockerNode& node) : spec(node.sandbox_spec()) {
    node.engine.must(node.runtime.create(spec, DockerNode::soon()));
    carrier = node.engine.must(node.runtime.channel(spec.id, DockerNode::soon()));
    node.engine.must(node.runtime.start(spec.id, DockerNode::soon()));
    // Before its hello the process may still be the OCI runtime's own, on its way to the runner.
    node.engine.must(test::greet_runner(*carrier, "nonce", DockerNode::soon()));
    inspect = node.engine.must(
        node.engine.engine->inspect_container(docker::container_name(spec.id), DockerNode::soon()));
  }
  ~LiveSandbox() { carrier->close(); }

  SandboxSpec spec;
  std::unique_ptr<Carrier> carrier;
  docker::ContainerInspect inspect;
};

// The tests read /proc of the sandbox's first process, which is there on the engine's own machine only.
KernelView view_of(const docker::ContainerInspect& inspect) {
  KernelView kernel(inspect.state.pid);
  if (kernel.file("cgroup").find(inspect.id) == std::string::npos) {
    FAIL("no process " << inspect.state.pid << " of container " << inspect.id
                       << " here: run this test as root on the engine's own machine");
  }
  return kernel;
}

void add_process(ProfileTable& table, const LiveSandbox& sandbox, const KernelView& kernel) {
  table.inspected("/Image", sandbox.spec.image.id);
  table.both("/Config/User", "65532:65532",
             kernel.status("Uid").substr(0, 5) + ":" + kernel.status("Gid").substr(0, 5));
  table.observed("all user ids", "65532 65532 65532 65532", kernel.status("Uid"));
  table.observed("all group ids", "65532 65532 65532 65532", kernel.status("Gid"));
  // Engines of other ages name the own group again or do not.
  const std::string groups = kernel.status("Groups");
  table.observed("groups beside the own", "none", groups.empty() || groups == "65532" ? "none" : groups);
  table.both("/Config/Entrypoint/0", "/.mayfly/runner", kernel.link("exe"));
  table.inspected("/Config/Cmd", "none");
  table.both("/Config/WorkingDir", "/workspace", kernel.link("cwd"));
  table.both("/Config/Hostname", "task", kernel.root_file("/etc/hostname"));
  table.inspected("/Config/Domainname", "none");
  for (const char* flag : {"OpenStdin", "AttachStdin", "AttachStdout", "AttachStderr"}) {
    table.inspected(std::string("/Config/") + flag, "true");
  }
  for (const char* flag : {"Tty", "StdinOnce"}) table.inspected(std::string("/Config/") + flag, "false");
  table.inspected("/Config/Healthcheck/Test/0", "NONE");
  table.inspected("/Config/Volumes", "none");
  table.inspected("/Config/ExposedPorts", "none");
  table.inspected("/Config/StopSignal", "SIGTERM");
  table.inspected("/Config/StopTimeout", "10");
  const std::string pids = kernel.status("NSpid");
  table.both("/HostConfig/Init", "false", pids.substr(pids.rfind(' ') + 1) == "1" ? "false" : "PID " + pids);
}

std::string loader_variables(const KernelView& kernel) {
  std::string found;
  for (const std::string& name : kernel.environment_names()) {
    if (name.starts_with("LD_") || name == "GLIBC_TUNABLES" || name == "GCONV_PATH") found += name + " ";
  }
  return found.empty() ? "none" : found;
}

// Of /dev/zero's kin, masks and pseudo file systems nothing can be kept; all else that can be written to is
// named.
std::string writable_mounts(const KernelView& kernel) {
  const std::vector<std::string> pseudo = {"proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue"};
  std::vector<std::string> targets;
  for (const auto& mount : kernel.mounts()) {
    const bool is_pseudo = std::find(pseudo.begin(), pseudo.end(), mount.type) != pseudo.end();
    const bool is_writable = mount.flags.starts_with("rw") && !mount.options.contains("ro");
    if (!is_pseudo && is_writable && mount.root != "/null" && mount.target != "/sys/fs/cgroup") {
      targets.push_back(mount.target);
    }
  }
  std::sort(targets.begin(), targets.end());
  std::string text;
  for (const std::string& target : targets) text += (text.empty() ? "" : " ") + target;
  return text;
}

void add_isolation(ProfileTable& table, const KernelView& kernel) {
  const std::string no_capability = "0000000000000000";
  table.inspected("/HostConfig/Privileged", "false");
  table.inspected("/HostConfig/CapDrop", R"(["ALL"])");
  table.inspected("/HostConfig/CapAdd", "none");
  for (const char* set : {"CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"}) {
    table.observed(set, no_capability, kernel.status(set));
  }
  table.inspected("/HostConfig/SecurityOpt/0", "no-new-privileges:true");
  table.observed("NoNewPrivs", "1", kernel.status("NoNewPrivs"));
  table.observed("Seccomp", "2", kernel.status("Seccomp"));
  table.both("/HostConfig/NetworkMode", "none", kernel.interfaces() == "lo" ? "none" : kernel.interfaces());
  table.observed("interfaces", "lo", kernel.interfaces());
  table.both("/HostConfig/IpcMode", "private", kernel.name_space("ipc"));
  table.both("/HostConfig/CgroupnsMode", "private", kernel.name_space("cgroup"));
  for (const auto& [mode, name_space] :
       {std::pair{"PidMode", "pid"}, {"UTSMode", "uts"}, {"NetworkMode", "net"}}) {
    if (std::string(mode) != "NetworkMode") table.inspected(std::string("/HostConfig/") + mode, "none");
    table.observed(std::string(name_space) + " namespace", "private", kernel.name_space(name_space));
  }
  table.inspected("/HostConfig/UsernsMode", "none");
  table.inspected("/HostConfig/Cgroup", "none");
  table.inspected("/HostConfig/Dns", R"(["127.0.0.1"])");
  table.inspected("/HostConfig/DnsSearch", R"(["."])");
  table.observed("resolv.conf", "nameserver 127.0.0.1", kernel.root_file("/etc/resolv.conf"));
  table.observed("variables of a loader", "none", loader_variables(kernel));
  for (const char* key :
       {"Binds", "VolumesFrom", "VolumeDriver", "Links", "Devices", "DeviceRequests", "DeviceCgroupRules",
        "GroupAdd", "PortBindings", "ExtraHosts", "Sysctls", "CgroupParent", "Annotations"}) {
    table.inspected(std::string("/HostConfig/") + key, "none");
  }
}

// Each is a cgroup file, a mount, or one of the kernel's limits of the process.
void add_resources(ProfileTable& table, const KernelView& kernel) {
  // 64 MiB for the task, 16 workspace, 8 tmp, 4 shm, 8 for the runner.
  const std::string memory = std::to_string(100LL << 20U);
  table.both("/HostConfig/Memory", memory, kernel.memory());
  const std::string with_swap = kernel.memory_with_swap();
  table.both("/HostConfig/MemorySwap", memory, with_swap == "absent" ? "-" : with_swap);
  if (kernel.is_cgroup_v2()) {
    table.both("/HostConfig/CpuShares", "256",
               kernel.cgroup("cpu", "cpu.weight") == "10" ? "256" : "wrong weight");
  } else {
    table.both("/HostConfig/MemorySwappiness", "0", kernel.cgroup("memory", "memory.swappiness"));
    table.both("/HostConfig/CpuShares", "256", kernel.cgroup("cpu", "cpu.shares"));
  }
  table.both("/HostConfig/NanoCpus", "1000000000", kernel.nano_cpus());
  table.both("/HostConfig/PidsLimit", "36", kernel.pids());
  table.both("/HostConfig/OomScoreAdj", "500", kernel.file("oom_score_adj"));
  table.inspected("/HostConfig/OomKillDisable", "false");
  table.both("/HostConfig/ShmSize", std::to_string(4LL << 20U),
             kernel.mount("/dev/shm").ends_with("size=4096k") ? std::to_string(4LL << 20U)
                                                              : kernel.mount("/dev/shm"));
}

void add_ulimits(ProfileTable& table, const KernelView& kernel) {
  table.inspected("/HostConfig/Ulimits",
                  R"([{"Hard":0,"Name":"core","Soft":0},{"Hard":16842752,"Name":"fsize","Soft":16842752},)"
                  R"({"Hard":65536,"Name":"memlock","Soft":65536},{"Hard":0,"Name":"msgqueue","Soft":0},)"
                  R"({"Hard":0,"Name":"nice","Soft":0},{"Hard":1024,"Name":"nofile","Soft":1024},)"
                  R"({"Hard":0,"Name":"rtprio","Soft":0},{"Hard":1024,"Name":"sigpending","Soft":1024}])");
  const std::vector<std::pair<std::string, std::string>> limits = {
      {"Max open files", "1024 1024"},      {"Max core file size", "0 0"},
      {"Max locked memory", "65536 65536"}, {"Max msgqueue size", "0 0"},
      {"Max pending signals", "1024 1024"}, {"Max realtime priority", "0 0"},
      {"Max nice priority", "0 0"},         {"Max file size", "16842752 16842752"}};
  for (const auto& [name, wanted] : limits) table.observed(name, wanted, kernel.limit(name));
}

std::string without_mode(std::string mount) {
  const std::size_t begin = mount.find(" mode=");
  if (begin == std::string::npos) return mount;
  return mount.erase(begin, mount.find(' ', begin + 1) - begin);
}

void add_storage(ProfileTable& table, const LiveSandbox& sandbox, const KernelView& kernel) {
  table.inspected("/HostConfig/ReadonlyRootfs", "true");
  table.observed("mount /", "ro", kernel.mount("/").substr(0, 2));
  table.both("/HostConfig/Tmpfs/~1tmp",
             "rw,nosuid,nodev,exec,size=8388608,nr_inodes=8192,mode=1777,uid=65532,gid=65532", "-");
  // The mode is the image's own and is shown only when it is not 1777.
  table.observed("mount /tmp", "rw nosuid nodev size=8192k nr_inodes=8192 uid=65532 gid=65532",
                 without_mode(kernel.mount("/tmp")));
  table.observed("mount /workspace",
                 "rw nosuid nodev size=16384k nr_inodes=4096 mode=700 uid=65532 gid=65532",
                 kernel.mount("/workspace"));
  table.observed("mount /dev/shm", "rw nosuid nodev noexec size=4096k", kernel.mount("/dev/shm"));
  table.observed("mount /.mayfly", "ro", kernel.mount("/.mayfly"));
  table.observed("writable mounts", "/dev /dev/shm /tmp /workspace", writable_mounts(kernel));
  const std::string workspace = docker::workspace_volume_name(sandbox.spec.id);
  table.inspected("/HostConfig/Mounts/1/Source", workspace);
  table.inspected("/HostConfig/Mounts/1/Target", "/workspace");
  table.inspected("/HostConfig/Mounts/1/VolumeOptions/NoCopy", "true");
  table.inspected("/HostConfig/Mounts/0/Target", "/.mayfly");
  table.inspected("/HostConfig/Mounts/0/ReadOnly", "true");
  table.inspected("/HostConfig/LogConfig/Type", "none");
  table.inspected("/HostConfig/RestartPolicy/Name", "no");
  table.inspected("/HostConfig/AutoRemove", "false");
  table.inspected("/HostConfig/PublishAllPorts", "false");
}

// Every path of the list that the kernel has must be mounted over; read-only ones must be so.
void add_paths(ProfileTable& table, const KernelView& kernel) {
  for (const char* path :
       {"/proc/acpi", "/proc/asound", "/proc/cmdline", "/proc/config.gz", "/proc/interrupts",
        "/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/pressure",
        "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/firmware",
        "/sys/devices/virtual/powercap", "/sys/devices/system/cpu/cpu0/thermal_throttle"}) {
    if (std::filesystem::exists(path)) {
      table.observed("masked " + std::string(path), "yes", kernel.mount(path) == "absent" ? "no" : "yes");
    }
  }
  for (const char* path : {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}) {
    if (std::filesystem::exists(path))
      table.observed("read-only " + std::string(path), "ro", kernel.mount(path).substr(0, 2));
  }
}

}  // namespace

TEST_CASE("C01 profile: what was wanted and what inspect and the kernel show of a live sandbox agree") {
  DockerNode node;
  const LiveSandbox sandbox(node);
  const KernelView kernel = view_of(sandbox.inspect);
  ProfileTable table(sandbox.inspect.raw);
  add_process(table, sandbox, kernel);
  add_isolation(table, kernel);
  add_resources(table, kernel);
  add_ulimits(table, kernel);
  add_storage(table, sandbox, kernel);
  add_paths(table, kernel);
  std::cout << table.text() << std::flush;
  for (const auto& row : table.differences()) {
    FAIL_CHECK(row.field << ": wanted " << row.wanted << ", inspect " << row.inspect << ", kernel "
                         << row.kernel);
  }
}

TEST_CASE("profile: a table with one differing row has a difference") {
  ProfileTable table(Json{{"HostConfig", {{"PidsLimit", nullptr}, {"Memory", 1}}}});
  table.both("/HostConfig/Memory", "1", "1");
  CHECK(table.differences().empty());
  table.both("/HostConfig/PidsLimit", "36", "36");
  table.both("/HostConfig/Memory", "1", "2");
  table.observed("mount", "ro", "rw");
  CHECK(table.differences().size() == 3);
}

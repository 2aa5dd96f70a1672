#include "runtime/docker/hardened_profile.hpp"

#include <algorithm>
#include <array>

namespace mayfly::docker {
namespace {

constexpr std::uint64_t kBytesPerInode = 4096;  // of a workspace: as many files as it has pages
constexpr std::uint64_t kLeastInodes = 4096;
constexpr std::uint64_t kTmpInodes = 8192;
constexpr Bytes kImageVolume = 1_MiB;
constexpr std::uint64_t kImageVolumeInodes = 1024;
constexpr int kSecondsToStop = 10;
constexpr Bytes kLargestPage = 64_KiB;
constexpr Bytes kLeastMemory = 6_MiB;  // Docker refuses less
constexpr std::uint64_t kMostBytes = 1ULL << 53U;
constexpr std::int64_t kMostMillicpus = 1'000'000;
constexpr std::uint64_t kMostPids = 4096;
constexpr std::int64_t kCpuShares = 256;
constexpr int kOomScoreAdj = 500;  // before anything of the host; the runner raises its children to 1000

// Variables that make a dynamic loader or the C library load foreign code or files. Sent without "=", which
// removes them, whether the image sets them or not.
constexpr auto kLoaderVariables = std::to_array<std::string_view>(
    {"GCONV_PATH", "GETCONF_DIR",     "GLIBC_TUNABLES",   "HOSTALIASES",    "LD_AUDIT",
     "LD_DEBUG",   "LD_DEBUG_OUTPUT", "LD_LIBRARY_PATH",  "LD_ORIGIN_PATH", "LD_PRELOAD",
     "LD_PROFILE", "LD_SHOW_AUXV",    "LOCALDOMAIN",      "LOCPATH",        "MALLOC_TRACE",
     "NIS_PATH",   "NLSPATH",         "RESOLV_HOST_CONF", "RES_OPTIONS",    "TZDIR"});

// The engine's own list (setting the field replaces it; engines of other ages mask other parts) and what
// tells a tenant about its host.
constexpr auto kMaskedPaths = std::to_array<std::string_view>(
    {"/proc/acpi", "/proc/asound", "/proc/cmdline", "/proc/config.gz", "/proc/interrupts", "/proc/kallsyms",
     "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/pressure", "/proc/sched_debug", "/proc/scsi",
     "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"});

constexpr auto kReadOnlyPaths = std::to_array<std::string_view>(
    {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"});

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

// To a tmpfs a size of zero is no limit, and to the engine a shm of zero is its default: the least is one
// page.
std::uint64_t tmpfs_size(Bytes size) {
  return std::max(size, Bytes(4_KiB)).count;
}

std::uint64_t workspace_inodes(Bytes size) {
  return std::max(size.count / kBytesPerInode, kLeastInodes);
}

std::vector<std::string> removed_variables(const Image& image) {
  std::vector<std::string> names(kLoaderVariables.begin(), kLoaderVariables.end());
  names.insert(names.end(), image.env_names.begin(), image.env_names.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> masked_paths(std::int64_t processors) {
  std::vector<std::string> paths(kMaskedPaths.begin(), kMaskedPaths.end());
  for (std::int64_t cpu = 0; cpu < processors; ++cpu) {
    paths.push_back("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/thermal_throttle");
  }
  return paths;
}

std::vector<std::string> security_options(const EngineFacts& engine) {
  std::vector<std::string> options{"no-new-privileges:true", "seccomp=" + engine.seccomp_profile};
  // An engine takes this also where there is no AppArmor, and then does nothing.
  if (engine.apparmor) options.push_back("apparmor=docker-default");
  return options;
}

Ulimit fixed_limit(std::string name, std::uint64_t value) {
  const auto limit = static_cast<std::int64_t>(value);
  return Ulimit{std::move(name), limit, limit};
}

// nproc is not here: the kernel counts it over all containers of one uid. The largest file is a page (of any
// kernel) more than the largest file system: a sparse one stays bounded, and a full one is ENOSPC, not
// SIGXFSZ.
std::vector<Ulimit> make_ulimits(const Limits& limits) {
  const Bytes largest_file = std::max({limits.workspace, limits.tmp, limits.shm});
  return {fixed_limit("core", 0),
          fixed_limit("fsize", tmpfs_size(largest_file) + kLargestPage.count),
          fixed_limit("memlock", Bytes(64_KiB).count),
          fixed_limit("msgqueue", 0),
          fixed_limit("nice", 0),
          fixed_limit("nofile", std::max(limits.open_files, kLeastOpenFiles)),
          fixed_limit("rtprio", 0),
          fixed_limit("sigpending", 1024)};
}

// An OCI runtime gives a tmpfs the mode of the image's directory there, whatever `mode` says (seen with
// runc 1.1.5: a /tmp of 0755 stayed closed to all but root). So each belongs to the task's own uid.
std::string tmpfs_options(std::string_view exec_or_not, Bytes size, std::uint64_t inodes) {
  const std::string owner = number(kSandboxUid);
  return "rw,nosuid,nodev," + std::string(exec_or_not) + ",size=" + number(tmpfs_size(size)) +
         ",nr_inodes=" + number(inodes) + ",mode=1777,uid=" + owner + ",gid=" + owner;
}

// /tmp runs programs, since build tools write theirs there. The paths that the image declares as volumes
// would be unlimited host disk: each becomes a small tmpfs that holds data only.
std::map<std::string, std::string> make_tmpfs(const SandboxSpec& spec) {
  std::map<std::string, std::string> mounts;
  for (const std::string& path : spec.image.volumes) {
    mounts[path] = tmpfs_options("noexec", kImageVolume, kImageVolumeInodes);
  }
  mounts["/tmp"] = tmpfs_options("exec", spec.limits.tmp, kTmpInodes);
  return mounts;
}

void set_process(ContainerConfig& config, const SandboxSpec& spec) {
  config.image = spec.image.id;
  config.user = number(kSandboxUid) + ":" + number(kSandboxUid);
  config.working_dir = kWorkspaceDirectory;
  config.hostname = "task";
  config.entrypoint = {std::string(kRunnerPath)};
  config.env = removed_variables(spec.image);
  config.stop_timeout_s = kSecondsToStop;
}

void set_resources(ContainerConfig& config, const SandboxSpec& spec, const EngineFacts& engine) {
  config.memory = static_cast<std::int64_t>(spec.granted.memory.count);
  config.memory_swap = config.memory;  // equal means no swap; left out would mean as much again
  if (engine.cgroup_version == 1) config.memory_swappiness = 0;
  config.nano_cpus = spec.granted.millicpus * 1'000'000;
  config.cpu_shares = kCpuShares;
  config.pids_limit = static_cast<std::int64_t>(spec.granted.pids);
  config.shm_size = static_cast<std::int64_t>(tmpfs_size(spec.limits.shm));
  config.oom_score_adj = kOomScoreAdj;
  config.ulimits = make_ulimits(spec.limits);
}

void set_isolation(ContainerConfig& config, const EngineFacts& engine) {
  config.security_opt = security_options(engine);
  config.dns = {"127.0.0.1"};  // with network "none" the host's resolver would still show
  config.dns_search = {"."};
  config.masked_paths = masked_paths(engine.processors);
  config.read_only_paths.assign(kReadOnlyPaths.begin(), kReadOnlyPaths.end());
}

}  // namespace

std::string container_name(const SandboxId& id) {
  return "mayfly-" + id.str();
}

std::string workspace_volume_name(const SandboxId& id) {
  return container_name(id) + "-ws";
}

Result<> check_sandbox_spec(const SandboxSpec& spec) {
  const Granted& granted = spec.granted;
  if (granted.memory < kLeastMemory || granted.memory.count > kMostBytes) {
    return fail(ErrorCode::invalid_argument, "sandbox " + spec.id.str() + ": granted memory of " +
                                                 number(granted.memory.count) + " bytes; the least is 6 MiB");
  }
  if (granted.millicpus < 1 || granted.millicpus > kMostMillicpus) {
    return fail(ErrorCode::invalid_argument, "sandbox " + spec.id.str() + ": granted processor of " +
                                                 std::to_string(granted.millicpus) + " thousandths");
  }
  if (granted.pids < 1 || granted.pids > kMostPids) {
    return fail(ErrorCode::invalid_argument, "sandbox " + spec.id.str() + ": granted pids of " +
                                                 number(granted.pids) + "; between 1 and 4096 are possible");
  }
  return {};
}

VolumeConfig make_workspace_volume(const SandboxSpec& spec, Labels labels) {
  const std::string owner = number(kSandboxUid);
  VolumeConfig config;
  config.name = workspace_volume_name(spec.id);
  config.options = {{"type", "tmpfs"},
                    {"device", "tmpfs"},
                    {"o", "size=" + number(tmpfs_size(spec.limits.workspace)) +
                              ",nr_inodes=" + number(workspace_inodes(spec.limits.workspace)) +
                              ",uid=" + owner + ",gid=" + owner + ",mode=0700,nosuid,nodev"}};
  config.labels = std::move(labels);
  return config;
}

ContainerConfig make_sandbox_container(const SandboxSpec& spec, const EngineFacts& engine,
                                       std::string runner_volume, Labels labels) {
  ContainerConfig config;
  set_process(config, spec);
  set_resources(config, spec, engine);
  set_isolation(config, engine);
  config.tmpfs = make_tmpfs(spec);
  config.mounts = {Mount{std::move(runner_volume), std::string(kRunnerDirectory), true},
                   Mount{workspace_volume_name(spec.id), std::string(kWorkspaceDirectory), false}};
  config.labels = std::move(labels);
  return config;
}

}  // namespace mayfly::docker

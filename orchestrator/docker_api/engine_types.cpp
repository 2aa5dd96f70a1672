#include "docker_api/engine_types.hpp"

namespace mayfly::docker {

namespace {

Json empty_object() {
  return Json::object();
}
Json empty_list() {
  return Json::array();
}

Json list_or_engine_default(const std::vector<std::string>& list) {
  return list.empty() ? Json(nullptr) : Json(list);
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ulimits_of(const ContainerConfig& config) {
  Json list = empty_list();
  for (const Ulimit& limit : config.ulimits)
    list.push_back({{"Name", limit.name}, {"Soft", limit.soft}, {"Hard", limit.hard}});
  return list;
}

// NoCopy: nothing of the image's own files at the target comes into the volume.
Json mounts_of(const ContainerConfig& config) {
  Json list = empty_list();
  for (const Mount& mount : config.mounts)
    list.push_back({{"Type", "volume"},
                    {"Source", mount.volume},
                    {"Target", mount.target},
                    {"ReadOnly", mount.read_only},
                    {"VolumeOptions", {{"NoCopy", true}}}});
  return list;
}

// What no sandbox ever gets, said aloud so that no default of the engine's speaks instead.
void add_refused(Json& host) {
  for (const char* key : {"Binds", "VolumesFrom", "Links", "Devices", "DeviceRequests", "DeviceCgroupRules",
                          "GroupAdd", "ExtraHosts", "CapAdd", "DnsOptions"})
    host[key] = empty_list();
  for (const char* key : {"PortBindings", "Sysctls"}) host[key] = empty_object();
  for (const char* key :
       {"VolumeDriver", "PidMode", "UTSMode", "UsernsMode", "Cgroup", "CpusetCpus", "CpusetMems"})
    host[key] = "";
  for (const char* key : {"Privileged", "PublishAllPorts", "AutoRemove", "OomKillDisable"}) host[key] = false;
  // The engine's own init would hand the channel's pipes on to its child.
  host["Init"] = false;
  host["RestartPolicy"] = {{"Name", "no"}, {"MaximumRetryCount", 0}};
}

void add_limits(Json& host, const ContainerConfig& config) {
  host["Memory"] = config.memory;
  host["MemorySwap"] = config.memory_swap;
  host["MemoryReservation"] = 0;
  host["MemorySwappiness"] = value_or_null(config.memory_swappiness);
  host["OomScoreAdj"] = config.oom_score_adj;
  host["NanoCpus"] = config.nano_cpus;
  host["CpuShares"] = config.cpu_shares;
  host["PidsLimit"] = config.pids_limit;
  host["ShmSize"] = config.shm_size;
  host["Ulimits"] = ulimits_of(config);
}

Json host_config_of(const ContainerConfig& config) {
  Json host = empty_object();
  add_refused(host);
  add_limits(host, config);
  host["NetworkMode"] = config.network_mode;
  host["IpcMode"] = config.ipc_mode;
  host["CgroupnsMode"] = config.cgroupns_mode;
  host["CgroupParent"] = config.cgroup_parent;
  host["Runtime"] = config.runtime;
  host["ReadonlyRootfs"] = config.read_only_root;
  host["CapDrop"] = config.cap_drop;
  host["SecurityOpt"] = config.security_opt;
  host["Tmpfs"] = config.tmpfs;
  host["Mounts"] = mounts_of(config);
  host["Dns"] = config.dns;
  host["DnsSearch"] = config.dns_search;
  host["MaskedPaths"] = list_or_engine_default(config.masked_paths);
  host["ReadonlyPaths"] = list_or_engine_default(config.read_only_paths);
  host["LogConfig"] = {{"Type", config.log_driver}, {"Config", empty_object()}};
  return host;
}

}  // namespace

Json to_json(const ContainerConfig& config) {
  Json body = empty_object();
  body["Image"] = config.image;
  body["User"] = config.user;
  body["WorkingDir"] = config.working_dir;
  body["Hostname"] = config.hostname;
  body["Domainname"] = "";
  body["Entrypoint"] = config.entrypoint;
  body["Cmd"] = config.cmd;
  body["Env"] = config.env;
  body["Labels"] = config.labels;
  body["StopSignal"] = config.stop_signal;
  body["StopTimeout"] = config.stop_timeout_s;
  // Never a terminal: its output would come without frames. StdinOnce false: a later orchestrator attaches
  // again.
  body["Tty"] = false;
  body["OpenStdin"] = config.open_stdin;
  body["StdinOnce"] = false;
  for (const char* key : {"AttachStdin", "AttachStdout", "AttachStderr"}) body[key] = true;
  // The image's own health check would run its code on a timer.
  body["Healthcheck"] = {{"Test", {"NONE"}}};
  body["Volumes"] = empty_object();
  body["ExposedPorts"] = empty_object();
  body["HostConfig"] = host_config_of(config);
  return body;
}

Json to_json(const VolumeConfig& config) {
  Json body = empty_object();
  body["Name"] = config.name;
  body["Driver"] = "local";
  body["DriverOpts"] = config.options;
  body["Labels"] = config.labels;
  return body;
}

// The engine reads an absent limit as "leave it".
Json to_json(const UpdateConfig& config) {
  Json body = empty_object();
  if (config.memory) body["Memory"] = *config.memory;
  if (config.memory_swap) body["MemorySwap"] = *config.memory_swap;
  if (config.nano_cpus) body["NanoCpus"] = *config.nano_cpus;
  if (config.pids_limit) body["PidsLimit"] = *config.pids_limit;
  return body;
}

}  // namespace mayfly::docker

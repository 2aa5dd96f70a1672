#include <array>

#include "task/spec_parts.hpp"

namespace mayfly::spec_parts {
namespace {

using namespace std::string_view_literals;

// The fields of an engine's create call, its command line and compose files that would open a sandbox. None
// of them is ever passed on; they have a code of their own so that a user learns that this is no slip of the
// pen.
constexpr std::array kForbidden = {
    // capabilities, users and security profiles
    "privileged"sv,
    "cap_add"sv,
    "cap_drop"sv,
    "capabilities"sv,
    "security_opt"sv,
    "security_context"sv,
    "seccomp"sv,
    "apparmor"sv,
    "no_new_privileges"sv,
    "user"sv,
    "group_add"sv,
    "userns_mode"sv,
    "userns"sv,
    "masked_paths"sv,
    "readonly_paths"sv,
    "readonly_rootfs"sv,
    "read_only"sv,
    // the host's files and devices
    "binds"sv,
    "volumes"sv,
    "volumes_from"sv,
    "volume_driver"sv,
    "mounts"sv,
    "tmpfs"sv,
    "devices"sv,
    "device_requests"sv,
    "device_cgroup_rules"sv,
    "gpus"sv,
    "storage_opt"sv,
    // the host's namespaces and cgroups
    "network"sv,
    "networks"sv,
    "network_mode"sv,
    "networking_config"sv,
    "network_disabled"sv,
    "pid"sv,
    "pid_mode"sv,
    "ipc"sv,
    "ipc_mode"sv,
    "uts"sv,
    "uts_mode"sv,
    "cgroup"sv,
    "cgroupns_mode"sv,
    "cgroup_parent"sv,
    "isolation"sv,
    "sysctls"sv,
    "ulimits"sv,
    "oom_kill_disable"sv,
    "oom_score_adj"sv,
    "cpuset_cpus"sv,
    // the network's names and doors
    "ports"sv,
    "port_bindings"sv,
    "exposed_ports"sv,
    "publish_all_ports"sv,
    "links"sv,
    "dns"sv,
    "dns_search"sv,
    "dns_options"sv,
    "extra_hosts"sv,
    "hostname"sv,
    "domainname"sv,
    "mac_address"sv,
    // how the container itself is run
    "runtime"sv,
    "entrypoint"sv,
    "init"sv,
    "restart"sv,
    "restart_policy"sv,
    "auto_remove"sv,
    "log_config"sv,
    "log_driver"sv,
    "healthcheck"sv,
    "host_config"sv,
    "container_name"sv,
    "stop_signal"sv,
    "shm_size"sv,
    "platform"sv,
};

}  // namespace

void forbid_container_fields(ObjectReader& fields) {
  fields.forbid(kForbidden,
                "a task cannot set this: the sandbox is fixed by policy, and nothing of a task changes it");
}

}  // namespace mayfly::spec_parts

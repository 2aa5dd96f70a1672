#include "runtime/docker/seccomp_profile.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "base/json.hpp"
#include "golden.hpp"

using namespace mayfly;
using docker::make_seccomp_profile;

namespace {

Json profile_of(const std::string& architecture) {
  return *parse_json(*make_seccomp_profile(architecture));
}

std::set<std::string> names_with(const Json& profile, const std::string& action) {
  std::set<std::string> names;
  for (const Json& rule : profile.at("syscalls")) {
    if (rule.at("action") == action) names.insert(rule.at("names").begin(), rule.at("names").end());
  }
  return names;
}

}  // namespace

TEST_CASE("C06 the seccomp profile is the golden one") {
  test::expect_golden("seccomp_amd64.json", profile_of("amd64").dump(1) + "\n");
}

TEST_CASE("C06 the seccomp profile refuses what it does not name and names nothing that leads out") {
  const Json profile = profile_of("amd64");
  CHECK(profile.at("defaultAction") == "SCMP_ACT_ERRNO");
  const auto allowed = names_with(profile, "SCMP_ACT_ALLOW");
  for (const char* name : {"mount",
                           "umount2",
                           "unshare",
                           "setns",
                           "pivot_root",
                           "chroot",
                           "ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "pidfd_getfd",
                           "kcmp",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "memfd_secret",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "kexec_load",
                           "open_by_handle_at",
                           "name_to_handle_at",
                           "fanotify_init",
                           "io_uring_setup",
                           "io_uring_enter",
                           "io_uring_register",
                           "clone3",
                           "modify_ldt",
                           "reboot",
                           "swapon",
                           "syslog",
                           "open_tree",
                           "move_mount",
                           "fsopen",
                           "fsmount",
                           "mount_setattr",
                           "iopl",
                           "ioperm",
                           "acct",
                           "sethostname",
                           "settimeofday",
                           "clock_settime",
                           "vhangup",
                           "quotactl",
                           "process_madvise",
                           "lookup_dcookie"}) {
    INFO(name);
    CHECK_FALSE(allowed.contains(name));
  }
}

TEST_CASE("C06 clone3 and io_uring answer that they do not exist so that libraries fall back") {
  const Json profile = profile_of("amd64");
  const std::set<std::string> expected{"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"};
  CHECK(names_with(profile, "SCMP_ACT_ERRNO") == expected);
  CHECK(profile.at("syscalls").back().at("errnoRet") == 38);
}

TEST_CASE("C06 sockets are allowed by family and never without a condition") {
  const Json profile = profile_of("amd64");
  std::set<std::uint64_t> families;
  for (const Json& rule : profile.at("syscalls")) {
    for (const Json& name : rule.at("names")) {
      if (name != "socket" && name != "socketpair" && name != "clone" && name != "personality") continue;
      INFO(rule.dump());
      REQUIRE(rule.contains("args"));
      REQUIRE_FALSE(rule.at("args").empty());
      if (name == "socket") families.insert(rule.at("args").at(0).at("value").get<std::uint64_t>());
    }
  }
  CHECK(families == std::set<std::uint64_t>{1, 2, 10, 16});
}

TEST_CASE("the seccomp profile names no system call twice without a condition") {
  const Json profile = profile_of("amd64");
  std::set<std::string> seen;
  for (const Json& rule : profile.at("syscalls")) {
    if (rule.contains("args")) continue;
    for (const Json& name : rule.at("names")) CHECK(seen.insert(name.get<std::string>()).second);
  }
}

TEST_CASE("the seccomp profile knows the native ABI alone and no other architecture") {
  CHECK(profile_of("amd64").at("architectures") == Json::array({"SCMP_ARCH_X86_64"}));
  CHECK(profile_of("arm64").at("architectures") == Json::array({"SCMP_ARCH_AARCH64"}));
  CHECK_FALSE(make_seccomp_profile("riscv64"));
  CHECK_FALSE(make_seccomp_profile(""));
}

#include "runtime/docker/engine_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/docker/seccomp_profile.hpp"

namespace mayfly::docker {
namespace {

using Number = std::array<int, 3>;

// "20.10.24+dfsg1" → {20, 10, 24}; missing parts are zero.
Number parse_number(const std::string& version) {
  Number number{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& part : number) {
    const auto read = std::from_chars(at, end, part);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != '.') break;
    at = read.ptr + 1;
  }
  return number;
}

struct Advisory {
  Number fixed_in;
  Number fixed_in_older;  // an older line of releases that has the fix as well, or the same number again
  std::string_view ids;
  std::string_view what;
};

constexpr std::array<Advisory, 2> kAdvisories{{
    {{25, 0, 2},
     {24, 0, 9},
     "CVE-2024-21626",
     "a working directory of the image could reach the host through runc"},
    {{28, 5, 2},
     {28, 5, 2},
     "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881",
     "masked paths of runc could be raced"},
}};

bool has_fix(const Number& number, const Advisory& advisory) {
  const bool in_older_line = number[0] == advisory.fixed_in_older[0];
  return number >= (in_older_line ? advisory.fixed_in_older : advisory.fixed_in);
}

bool has_option(const SystemInfo& info, std::string_view name) {
  const std::string wanted = "name=" + std::string(name);
  return std::any_of(info.security_options.begin(), info.security_options.end(),
                     [&](const std::string& option) {
                       return option == wanted || option.compare(0, wanted.size() + 1, wanted + ",") == 0;
                     });
}

bool is_unconfined(const SystemInfo& info) {
  return std::any_of(
      info.security_options.begin(), info.security_options.end(), [](const std::string& option) {
        return option.starts_with("name=seccomp") && option.find("profile=unconfined") != std::string::npos;
      });
}

Result<> require_seccomp(const VersionInfo& version, const SystemInfo& info) {
  if (!has_option(info, "seccomp")) {
    return fail(ErrorCode::forbidden,
                "engine " + version.version +
                    " does not list seccomp among its security options: its containers cannot be "
                    "confined; run it on a kernel with seccomp");
  }
  if (is_unconfined(info)) {
    return fail(ErrorCode::forbidden,
                "engine " + version.version +
                    " runs with seccomp-profile=unconfined: remove that setting of dockerd and "
                    "start it again");
  }
  return {};
}

}  // namespace

Result<EngineFacts> assess_engine(const VersionInfo& version, const SystemInfo& info) {
  if (version.os != "linux") {
    return fail(ErrorCode::forbidden,
                "the engine runs containers of \"" + version.os + "\"; Mayfly needs linux");
  }
  if (auto confined = require_seccomp(version, info); !confined) return fail_with(std::move(confined));
  auto profile = make_seccomp_profile(version.arch);
  if (!profile) {
    return fail(ErrorCode::forbidden, "the engine's architecture is \"" + version.arch +
                                          "\"; Mayfly has a system call table for amd64 and arm64 only");
  }
  EngineFacts facts;
  facts.version = version.version;
  facts.architecture = version.arch;
  facts.cgroup_version = info.cgroup_version == "2" ? 2 : 1;
  facts.apparmor = has_option(info, "apparmor");
  facts.default_runtime = info.default_runtime;
  facts.processors = std::max<std::int64_t>(info.processors, 1);
  facts.memory = Bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(info.memory, 0))};
  facts.seccomp_profile = *std::move(profile);
  return facts;
}

std::vector<std::string> list_advisories(const std::string& engine_version) {
  std::vector<std::string> notes;
  const Number number = parse_number(engine_version);
  for (const Advisory& advisory : kAdvisories) {
    if (has_fix(number, advisory)) continue;
    notes.push_back("engine " + engine_version + " is older than the release that fixed " +
                    std::string(advisory.ids) + " (" + std::string(advisory.what) +
                    "): check that your distribution has backported it");
  }
  return notes;
}

}  // namespace mayfly::docker

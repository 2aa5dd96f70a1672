#include "self_report.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include "small_file.hpp"

namespace mayfly::runner {

std::vector<std::string> parse_interfaces(std::string_view net_dev) {
  std::vector<std::string> names;
  while (!net_dev.empty()) {
    const std::size_t end = net_dev.find('\n');
    const std::string_view line = net_dev.substr(0, end);
    const std::size_t colon = line.find(':');  // the two heading lines have none
    const std::size_t begin = line.find_first_not_of(' ');
    if (colon != std::string_view::npos && begin < colon)
      names.emplace_back(line.substr(begin, colon - begin));
    if (end == std::string_view::npos) break;
    net_dev.remove_prefix(end + 1);
  }
  return names;
}

channel::SelfReport make_self_report(int cgroup_version) {
  channel::SelfReport report;
  report.uid = ::getuid();
  report.gid = ::getgid();
  report.pid = ::getpid();
  report.dumpable = ::prctl(PR_GET_DUMPABLE) != 0;
  report.no_new_privileges = ::prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) == 1;
  report.cgroup_version = cgroup_version;
  const std::string status = read_small_file("/proc/self/status").value_or(std::string());
  report.cap_effective = find_field(status, "CapEff").value_or("");
  report.cap_bounding = find_field(status, "CapBnd").value_or("");
  report.seccomp_mode = static_cast<int>(find_number(find_field(status, "Seccomp").value_or("")).value_or(0));
  report.interfaces = parse_interfaces(read_small_file("/proc/self/net/dev").value_or(std::string()));
  return report;
}

}  // namespace mayfly::runner

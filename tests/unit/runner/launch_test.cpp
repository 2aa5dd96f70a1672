// Where a program is looked for, and what a failed launch reads like.
#include <catch2/catch.hpp>
#include <cerrno>

#include "runtime-image/runner/launch_failure.hpp"
#include "runtime-image/runner/self_report.hpp"
#include "runtime-image/runner/trampoline.hpp"

using namespace mayfly;
using namespace mayfly::runner;
using Files = std::vector<std::string>;

TEST_CASE("a program is looked for as execvp does") {
  CHECK(candidates("sh", "/bin:/usr/bin") == Files{"/bin/sh", "/usr/bin/sh"});
  CHECK(candidates("./sh", "/bin") == Files{"./sh"});
  CHECK(candidates("/x/sh", "/bin") == Files{"/x/sh"});
  CHECK(candidates("sh", "/bin::") == Files{"/bin/sh", "sh", "sh"});
  CHECK(candidates("sh", "") == Files{"sh"});
  CHECK(candidates("", "/bin").empty());
}

TEST_CASE("each stage of a launch has its cause") {
  channel::BindSpec spec;
  spec.argv = {"prog"};
  spec.working_dir = "/w";
  const auto cause = [&](LaunchStage stage, int error) { return describe({stage, error}, spec).cause; };
  CHECK(cause(LaunchStage::execute, ENOENT) == Reason::command_not_found);
  CHECK(cause(LaunchStage::execute, ENOTDIR) == Reason::command_not_found);
  CHECK(cause(LaunchStage::execute, EACCES) == Reason::not_executable);
  CHECK(cause(LaunchStage::execute, ENOEXEC) == Reason::not_executable);
  CHECK(cause(LaunchStage::execute, E2BIG) == Reason::not_executable);
  CHECK(cause(LaunchStage::execute, ENOMEM) == Reason::internal);
  CHECK(cause(LaunchStage::interpreter, ENOENT) == Reason::not_executable);
  CHECK(cause(LaunchStage::directory, ENOENT) == Reason::not_executable);
  CHECK(cause(LaunchStage::limits, EPERM) == Reason::internal);
  CHECK(cause(LaunchStage::filter, EINVAL) == Reason::internal);
  CHECK(cause(LaunchStage::plan, EINVAL) == Reason::internal);
}

TEST_CASE("a message about a very long name stays short") {
  channel::BindSpec spec;
  spec.argv = {std::string(100'000, 'x')};
  CHECK(describe({LaunchStage::execute, ENAMETOOLONG}, spec).message.size() < 1024);
}

TEST_CASE("C01 interfaces are read from the kernel's table") {
  const char* table =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:     100       1    0    0    0     0          0         0      100       1\n"
      "  eth0: 100 1 0 0 0 0 0 0 100 1\n";
  CHECK(parse_interfaces(table) == std::vector<std::string>{"lo", "eth0"});
  CHECK(parse_interfaces("").empty());
}

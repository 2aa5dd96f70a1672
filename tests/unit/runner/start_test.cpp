// How a task's process begins: its environment, its descriptors, and what is said when it cannot begin.
#include <catch2/catch.hpp>
#include <fstream>

#include "runner_process.hpp"

using namespace mayfly;
using namespace mayfly::test;

namespace {

channel::BindSpec program(std::vector<std::string> argv) {
  channel::BindSpec spec = shell("");
  spec.argv = std::move(argv);
  return spec;
}

}  // namespace

TEST_CASE("a program that is not there is command_not_found with 127") {
  RunnerProcess runner;
  const auto& ended = runner.run(program({"no-such-program"}));
  CHECK(ended.end.cause == Reason::command_not_found);
  CHECK(ended.end.exit_code == 127);
  CHECK(ended.message == "exec no-such-program: No such file or directory");
  CHECK(runner.methods == std::vector<std::string>{"ended"});
}

TEST_CASE("a file without the right to execute is not_executable with 126") {
  RunnerProcess runner;
  std::ofstream(runner.workspace() + "/data") << "text";
  const auto& ended = runner.run(program({runner.workspace() + "/data"}));
  CHECK(ended.end.cause == Reason::not_executable);
  CHECK(ended.end.exit_code == 126);
}

TEST_CASE("a program whose interpreter is missing says so") {
  RunnerProcess runner;
  const std::string file = runner.workspace() + "/script";
  std::ofstream(file) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  const auto& ended = runner.run(program({file}));
  CHECK(ended.end.cause == Reason::not_executable);
  CHECK(ended.message.find("interpreter is missing") != std::string::npos);
}

TEST_CASE("a file that is no program is not_executable") {
  RunnerProcess runner;
  const std::string file = runner.workspace() + "/junk";
  std::ofstream(file) << "junk";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  CHECK(runner.run(program({file})).message.find("Exec format error") != std::string::npos);
  CHECK(runner.ended->end.cause == Reason::not_executable);
}

TEST_CASE("a missing working directory is named") {
  RunnerProcess runner;
  auto spec = shell("true");
  spec.working_dir = "/no/such/dir";
  const auto& ended = runner.run(spec);
  CHECK(ended.end.cause == Reason::not_executable);
  CHECK(ended.message == "working directory /no/such/dir: No such file or directory");
}

TEST_CASE("the environment is the given one and nothing else") {
  RunnerProcess runner;
  auto spec = program({"env"});
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"EMPTY", ""}, {"RAW", "a\xff\nb"}};
  runner.run(spec);
  CHECK(runner.out == "EMPTY=\nPATH=/usr/bin:/bin\nRAW=a\xff\nb\n");
}

TEST_CASE("the process has its own session and limits and none of the runner's descriptors") {
  RunnerProcess runner;
  auto spec = shell(
      "ulimit -n; ulimit -c; cat /proc/self/oom_score_adj; umask; ls /proc/self/fd | wc -l; "
      "grep -E '^(SigBlk|SigIgn|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; "
      "read a b c d e s rest < /proc/self/stat; [ $s = $$ ] && echo own session");
  spec.open_files = 77;
  runner.run(spec);
  CHECK(runner.out ==
        "77\n0\n1000\n0022\n4\nSigBlk:0000000000000000\nSigIgn:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n"
        "own session\n");
  CHECK(runner.err.empty());
}

TEST_CASE("a file size limit is the kernel's") {
  RunnerProcess runner;
  auto spec = shell("trap '' XFSZ; head -c 5000 /dev/zero > big; wc -c < big");
  spec.working_dir = runner.workspace();
  spec.file_size = 4096;
  runner.run(spec);
  CHECK(runner.out == "4096\n");
}

TEST_CASE("a script is run from a file by the shell") {
  RunnerProcess runner;
  runner.attach();
  std::string script = "echo \"$0\"\nexit 12\n#" + std::string(100'000, 'x');
  runner.put(channel::PutTarget::script, script);
  auto spec = shell("");
  spec.argv.clear();
  spec.script = true;
  CHECK(runner.run(spec).end.exit_code == 12);
  CHECK(runner.out == runner.scratch() + "/mayfly-script\n");
}

TEST_CASE("inputs are files before the process starts") {
  RunnerProcess runner;
  runner.attach();
  std::string big(300'000, '\0');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * 7);
  runner.put(channel::PutTarget::workspace, big, "deep/er/big.bin");
  runner.put(channel::PutTarget::workspace, "", "empty");
  auto spec = shell("cat deep/er/big.bin; test -f empty && test ! -s empty");
  spec.working_dir = runner.workspace();
  CHECK(runner.run(spec).end.exit_code == 0);
  CHECK(runner.out == big);
}

TEST_CASE("stdin is fed whole and then ends") {
  RunnerProcess runner;
  runner.attach();
  std::string input(1'000'000, '\0');
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i * 13);
  runner.put(channel::PutTarget::standard_input, input);
  auto spec = shell("cat");
  spec.has_stdin = true;
  CHECK(runner.run(spec).end.exit_code == 0);
  CHECK(runner.out == input);
}

TEST_CASE("a process that does not read its stdin ends all the same") {
  RunnerProcess runner;
  runner.attach();
  runner.put(channel::PutTarget::standard_input, std::string(1'000'000, 'x'));
  auto spec = shell("exec <&-; exit 2");
  spec.has_stdin = true;
  CHECK(runner.run(spec).end.exit_code == 2);
}

TEST_CASE("a bind whose spec is not what was put starts nothing") {
  RunnerProcess runner;
  runner.attach();
  runner.put(channel::PutTarget::spec, "{}");
  const auto& ended = runner.run(shell("exit 0"));
  CHECK(ended.end.cause == Reason::runner_protocol_error);
  CHECK_FALSE(ended.end.exit_code);
  CHECK(runner.methods == std::vector<std::string>{"ended"});
}

TEST_CASE("F46 an input that leaves the workspace spoils the task and writes nothing") {
  RunnerProcess runner;
  runner.attach();
  std::filesystem::create_directory_symlink(runner.scratch(), runner.workspace() + "/link");
  const std::string path = GENERATE("../x", "/x", "a/../../x", "link/x", "");
  runner.put(channel::PutTarget::workspace, "evil", path);
  const auto& ended = runner.run(shell("exit 0"));
  CHECK(ended.end.cause != Reason::none);
  CHECK_FALSE(runner.has(channel::kStarted));
  CHECK(std::filesystem::is_empty(runner.scratch()));
}

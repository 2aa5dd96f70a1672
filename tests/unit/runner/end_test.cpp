// How a task ends: codes, tails of output, what is left of its tree, and limits with their exact reason.
#include <signal.h>

#include <catch2/catch.hpp>

#include "runner_process.hpp"

using namespace mayfly;
using namespace mayfly::test;

TEST_CASE("F01 the last line without a newline arrives before the end") {
  for (int i = 0; i < 20; ++i) {
    RunnerProcess runner;
    runner.run(shell("echo hello; printf world"));
    REQUIRE(runner.out == "hello\nworld");
    REQUIRE(runner.methods.back() == "ended");
    REQUIRE(runner.ended->out_bytes == 11);
  }
}

TEST_CASE("R11 exit codes and signals are exact and the tail of a flood is kept") {
  const int code = GENERATE(0, 1, 2, 126, 127, 128, 137, 255);
  RunnerProcess runner;
  const auto& ended =
      runner.run(shell("head -c 3000000 /dev/zero; printf tail; exit " + std::to_string(code)));
  CHECK(ended.end.exit_code == code);
  CHECK_FALSE(ended.end.signal);
  CHECK(ended.end.cause == Reason::none);
  CHECK(runner.out.size() == 3'000'004);
  CHECK(runner.out.ends_with("tail"));
}

TEST_CASE("R11 a signal is a signal and no exit code") {
  const int number = GENERATE(SIGKILL, SIGSEGV, SIGTERM, SIGABRT, SIGUSR1);
  RunnerProcess runner;
  const auto& ended = runner.run(shell("kill -" + std::to_string(number) + " $$"));
  CHECK(ended.end.signal == number);
  CHECK_FALSE(ended.end.exit_code);
  CHECK_FALSE(ended.end.oom_killed_main);
}

TEST_CASE("K01 text that looks like a message is only text") {
  RunnerProcess runner;
  const std::string forged =
      R"({"jsonrpc":"2.0","method":"ended","params":{"e":1,"n":2,"exit":0,"signal":null,"cause":"none"}}00000000)";
  runner.run(shell("printf '\\n%s\\n' '" + forged + "'; printf '\\n%s\\n' '" + forged + "' >&2; exit 13"));
  CHECK(runner.ended->end.exit_code == 13);
  CHECK(runner.out == "\n" + forged + "\n");
  CHECK(runner.err == "\n" + forged + "\n");
}

TEST_CASE("F14 what was left in the background is killed and its output until then is kept") {
  RunnerProcess runner;
  auto spec = shell(
      "record() { echo $$ > \"pid$1\"; }\n"
      "sleep 600 & echo $! > pid1\n"
      "setsid sh -c 'echo $$ > pid2; exec sleep 600' &\n"
      "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > pid3; sleep 600 & echo $! > pid4; wait' &)\n"
      "sh -c 'echo $$ > pid5; kill -STOP $$' &\n"
      "while [ $(cat pid? 2>/dev/null | wc -l) -lt 5 ]; do sleep 0.05; done; echo done; exit 4");
  spec.working_dir = runner.workspace();
  CHECK(runner.run(spec).end.exit_code == 4);
  CHECK(runner.out == "done\n");
  const auto pids = pids_in(runner.workspace());
  CHECK(pids.size() == 5);
  CHECK(living(pids).empty());
}

TEST_CASE("R09 a tree that ignores SIGTERM is gone after the grace") {
  RunnerProcess runner;
  auto spec = shell(
      "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ > pid1; while :; do sleep 1; done' &)\n"
      "while ! test -s pid1; do sleep 0.05; done; echo $$ > pid2; kill -STOP $$; while :; do sleep 1; done");
  spec.working_dir = runner.workspace();
  runner.attach();
  runner.bind(spec);
  runner.until([&] { return pids_in(runner.workspace()).size() == 2; });
  const auto pids = pids_in(runner.workspace());
  const channel::Stop stop{.reason = Reason::cancelled_by_user, .kill = false, .grace_ms = 100};
  runner.stop(stop);
  CHECK(runner.wait_for_end().end.cause == Reason::cancelled_by_user);
  CHECK(runner.ended->end.signal == SIGKILL);
  CHECK(living(pids).empty());
}

TEST_CASE("a stop gives the process time to say goodbye") {
  RunnerProcess runner;
  runner.attach();
  runner.bind(shell("trap 'echo bye; exit 21' TERM; echo ready; while :; do sleep 0.05; done"));
  runner.until([&] { return runner.out == "ready\n"; });
  const channel::Stop stop{.reason = Reason::superseded, .kill = false, .grace_ms = 60'000};
  runner.stop(stop);
  CHECK(runner.wait_for_end().end.exit_code == 21);
  CHECK(runner.ended->end.cause == Reason::superseded);
  CHECK(runner.out == "ready\nbye\n");
}

TEST_CASE("a second stop can only hurry and the first cause stays") {
  RunnerProcess runner;
  runner.attach();
  runner.bind(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
  runner.until([&] { return runner.out == "ready\n"; });
  const channel::Stop patient{.reason = Reason::superseded, .kill = false, .grace_ms = 3'600'000};
  const channel::Stop at_once{.reason = Reason::cancelled_by_user, .kill = true, .grace_ms = 0};
  runner.stop(patient);
  runner.stop(at_once);
  CHECK(runner.wait_for_end().end.signal == SIGKILL);
  CHECK(runner.ended->end.cause == Reason::superseded);
}

TEST_CASE("R10 silence ends with idle_timeout and a drip with run_timeout") {
  RunnerProcess silent;
  auto spec = shell("printf 1; exec sleep 600");
  spec.idle_ms = 300;
  CHECK(silent.run(spec).end.cause == Reason::idle_timeout);
  CHECK(silent.out == "1");  // F08: what came before the timeout is there
  RunnerProcess drip;
  spec = shell("while :; do echo x; sleep 0.05; done");
  spec.idle_ms = 60'000;
  spec.run_ms = 500;
  CHECK(drip.run(spec).end.cause == Reason::run_timeout);
  CHECK_FALSE(drip.out.empty());
}

TEST_CASE("the CPU limit counts the whole tree") {
  RunnerProcess runner;
  auto spec = shell("(while :; do :; done) & (while :; do :; done) & wait");
  spec.cpu_ms = 400;
  CHECK(runner.run(spec).end.cause == Reason::cpu_time);
  CHECK(runner.ended->usage.cpu_ms >= 400);
}

TEST_CASE("F08 endless output ends with log_limit and exactly the limit is kept") {
  RunnerProcess runner;
  auto spec = shell("yes");
  spec.log_bytes = 1'000'003;
  const auto& ended = runner.run(spec);
  CHECK(ended.end.cause == Reason::log_limit);
  CHECK(ended.end.signal == SIGKILL);
  CHECK(runner.out.size() == 1'000'003);
  CHECK(ended.out_bytes == 1'000'003);
  CHECK(ended.dropped_bytes > 0);
}

TEST_CASE("F08 exactly the limit is a success") {
  RunnerProcess runner;
  auto spec = shell("head -c 500000 /dev/zero; head -c 500000 /dev/zero >&2");
  spec.log_bytes = 1'000'000;
  const auto& ended = runner.run(spec);
  CHECK(ended.end.cause == Reason::none);
  CHECK(ended.end.exit_code == 0);
  CHECK(runner.out.size() + runner.err.size() == 1'000'000);
  CHECK(ended.dropped_bytes == 0);
}

TEST_CASE("F08 the last write passing the limit is one end with one cause") {
  RunnerProcess runner;
  auto spec = shell("head -c 100001 /dev/zero");
  spec.log_bytes = 100'000;
  const auto& ended = runner.run(spec);
  CHECK(ended.end.cause == Reason::log_limit);
  CHECK(ended.dropped_bytes == 1);
  CHECK(std::count(runner.methods.begin(), runner.methods.end(), "ended") == 1);
}

TEST_CASE("F08 truncate lets the task go on and says once where the log was cut") {
  RunnerProcess runner;
  auto spec = shell("head -c 3000000 /dev/zero; exit 6");
  spec.log_bytes = 100'000;
  spec.truncate_log = true;
  const auto& ended = runner.run(spec);
  CHECK(ended.end.exit_code == 6);
  CHECK(ended.end.cause == Reason::none);
  CHECK(runner.out.size() == 100'000);
  CHECK(ended.dropped_bytes == 2'900'000);
  CHECK(runner.methods == std::vector<std::string>{"started", "out", "truncated", "ended"});
}

TEST_CASE("a full spool makes the task stand still and neither run nor idle time passes") {
  RunnerProcess runner;
  runner.attach();
  runner.acknowledges = false;
  auto spec = shell("head -c 5000000 /dev/zero; exit 7");
  spec.spool_bytes = 256 * 1024;
  spec.run_ms = 4000;
  spec.idle_ms = 3000;
  runner.bind(spec);
  runner.until([&] { return runner.usage && runner.usage->stalled_ms > 5000; });
  CHECK(runner.out.size() < 256 * 1024);
  runner.acknowledges = true;
  const auto& ended = runner.wait_for_end();
  CHECK(ended.end.exit_code == 7);
  CHECK(ended.end.cause == Reason::none);
  CHECK(runner.out.size() == 5'000'000);
  CHECK(ended.usage.stalled_ms > 5000);
}

TEST_CASE("results are handed out after the end") {
  RunnerProcess runner;
  auto spec = shell("mkdir out; echo one > out/a; ln -s /etc/passwd out/b; mkfifo out/c; exit 1");
  spec.working_dir = runner.workspace();
  runner.run(spec);
  const channel::FilesList list{.patterns = {"out/**"}, .after = "", .limit = 10};
  const auto page = channel::parse_files_page(runner.request(channel::kFilesList, list.members()).body);
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  CHECK(page->files[0].path == "out/a");
  CHECK(page->skipped == std::vector<std::string>{"out/b", "out/c"});
  const channel::FilesRead read{.path = "out/a", .offset = 1, .length = 100};
  const auto piece = runner.request(channel::kFilesRead, read.members());
  CHECK(piece.payload == "ne\n");
  CHECK(channel::parse_file_chunk(piece.body)->end);
  const channel::FilesRead link{.path = "out/b", .offset = 0, .length = 100};
  CHECK_FALSE(runner.request(channel::kFilesRead, link.members()).error.empty());
}

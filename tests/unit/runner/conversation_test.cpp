// The runner's side of the conversation: who is answered, what is sent again, when it leaves.
#include <signal.h>

#include <catch2/catch.hpp>

#include "runner_process.hpp"

using namespace mayfly;
using namespace mayfly::test;
using channel::RunnerState;

TEST_CASE("hello carries the nonce and what the runner sees of itself") {
  RunnerProcess runner;
  const auto hello = runner.attach();
  CHECK(hello.protocol == channel::kProtocolVersion);
  CHECK(hello.state == RunnerState::parked);
  CHECK(hello.attempt.empty());
  CHECK(hello.instance.size() == 32);
  CHECK(hello.self.pid == runner.pid());
  CHECK(hello.self.uid == ::getuid());
  CHECK_FALSE(hello.self.dumpable);
  CHECK(hello.self.no_new_privileges);
  CHECK_FALSE(hello.self.cap_bounding.empty());
  CHECK_FALSE(hello.self.interfaces.empty());
}

TEST_CASE("two runners are two instances") {
  RunnerProcess one, other;
  CHECK(one.attach().instance != other.attach().instance);
}

TEST_CASE("an attach of the same epoch is answered again for its own nonce only") {
  RunnerProcess runner;
  runner.attach();
  runner.send_attach(1, "somebody else");
  runner.send_attach(1, "nonce1");
  runner.until([&] { return runner.hellos.size() == 2; });
  CHECK(runner.hellos.back().nonce == "nonce1");
}

TEST_CASE("an attach of a lower epoch and half a line are passed over") {
  RunnerProcess runner;
  runner.send_raw("{\"jsonrpc\":\"2.0\",\"method\":\"att");
  runner.attach();
  runner.attach();
  runner.send_attach(1, "stale");
  runner.send_attach(2, "nonce2");
  runner.until([&] { return runner.hellos.size() == 3; });
  CHECK(runner.hellos.back().nonce == "nonce2");
}

TEST_CASE("a new epoch gets again what was not acknowledged and nothing twice") {
  RunnerProcess runner;
  runner.attach();
  runner.acknowledges = false;
  auto spec = shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
  runner.bind(spec);
  runner.until([&] { return runner.out.size() > 1000; });
  runner.acknowledges = true;
  const auto hello = runner.attach_as_successor();
  CHECK(hello.state != RunnerState::parked);
  CHECK(hello.attempt == "att_1");
  CHECK(runner.wait_for_end().end.exit_code == 0);
  std::string expected;
  for (int i = 0; i < 20000; ++i) expected += "line " + std::to_string(i) + "\n";
  CHECK(runner.out == expected);
}

TEST_CASE("ended is held until a successor has come for it") {
  RunnerProcess runner;
  runner.attach();
  runner.acknowledges = false;
  runner.run(shell("exit 9"));
  runner.ended.reset();
  runner.taken = 0;  // the segment of a successor that lost everything
  runner.methods.clear();
  runner.acknowledges = true;
  CHECK(runner.attach_as_successor().state == RunnerState::ended);
  CHECK(runner.wait_for_end().end.exit_code == 9);
}

TEST_CASE("end of file on stdin does not end the task") {
  RunnerProcess runner;
  runner.attach();
  runner.bind(shell("read line; echo late"));  // stdin is empty: read fails at once
  runner.until([&] { return runner.has(channel::kStarted); });
  runner.close_input();
  CHECK(runner.wait_for_end().end.exit_code == 0);
  CHECK(runner.out == "late\n");
}

TEST_CASE("a second bind changes nothing") {
  RunnerProcess runner;
  runner.attach();
  runner.bind(shell("cat >/dev/null; sleep 1; exit 3"), "att_1");
  runner.bind(shell("exit 4"), "att_2");
  CHECK(runner.wait_for_end().end.exit_code == 3);
  CHECK(runner.attach().attempt == "att_1");
  CHECK(std::count(runner.methods.begin(), runner.methods.end(), channel::kStarted) == 1);
}

TEST_CASE("release is acknowledged and the runner exits 0") {
  RunnerProcess runner;
  runner.run(shell("exit 5"));
  runner.release();
  CHECK(runner.wait_for_exit() == 0);
}

TEST_CASE("a parked runner is released without a task") {
  RunnerProcess runner;
  runner.attach();
  runner.release();
  CHECK(runner.wait_for_exit() == 0);
}

TEST_CASE("without an orchestrator the lease ends task and runner") {
  RunnerProcess runner;
  runner.attach();
  auto spec = shell("echo $$ > pid; exec sleep 600");
  spec.working_dir = runner.workspace();
  spec.lease_ms = 300;
  spec.stop_ms = 100;
  runner.acknowledges = false;
  runner.bind(spec);
  runner.until([&] { return runner.has(channel::kStarted) && !pids_in(runner.workspace()).empty(); });
  const auto pids = pids_in(runner.workspace());
  CHECK(runner.wait_for_exit() == 3);
  CHECK(runner.ended->end.cause == Reason::runner_lost);
  CHECK(living(pids).empty());
}

TEST_CASE("F11 a SIGTERM from outside ends the task as killed externally") {
  RunnerProcess runner;
  runner.attach();
  auto spec = shell("trap 'echo bye; exit 6' TERM; echo ready; while :; do sleep 0.05; done");
  runner.bind(spec);
  runner.until([&] { return runner.out == "ready\n"; });
  ::kill(runner.pid(), SIGTERM);
  CHECK(runner.wait_for_end().end.cause == Reason::killed_externally);
  CHECK(runner.ended->end.exit_code == 6);
  CHECK(runner.out == "ready\nbye\n");
  CHECK(runner.wait_for_exit() == 4);
}

TEST_CASE("C12 signals from the task do not reach the runner's decisions") {
  RunnerProcess runner;
  auto spec =
      shell("kill -TERM " + std::to_string(runner.pid()) + "; kill -CHLD " + std::to_string(runner.pid()) +
            "; kill -PIPE " + std::to_string(runner.pid()) + "; echo still here; exit 8");
  const auto& ended = runner.run(spec);
  CHECK(ended.end.exit_code == 8);
  CHECK(ended.end.cause == Reason::none);
  CHECK(runner.out == "still here\n");
}

TEST_CASE("a stop before bind is an end that was never started") {
  RunnerProcess runner;
  runner.attach();
  const channel::Stop stop{.reason = Reason::cancelled_by_user, .kill = false, .grace_ms = 10};
  runner.stop(stop);
  runner.bind(shell("exit 1"));
  CHECK(runner.wait_for_end().end.cause == Reason::cancelled_by_user);
  CHECK_FALSE(runner.ended->end.exit_code);
  runner.settle();
  CHECK_FALSE(runner.has(channel::kStarted));
}

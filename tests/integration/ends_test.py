"""How a task ended: its own code, its signal, or whoever ended it; never guessed, told once."""

import threading
import unittest

from harness import ENDED, FULL, ServerTest, count, poll_until

# Little beside the memory itself, so that the cgroup's limit is near the task's.
SMALL = {"memory": "64Mi", "workspace": "1Mi", "tmp": "4Mi", "shm": "64Ki"}
EAT = "dd if=/dev/zero of=/dev/null bs=200M count=1"
FOREVER = ["sleep", "100000"]


def end_of(task):
    return task["state"], task["reason"], task["exit_code"], task["signal"]


class OwnEnds(ServerTest):
    def test_R11_every_exit_code_is_the_tasks_own(self):
        codes = list(range(256)) if FULL else [0, 1, 2, 42, 123, 124, 125, 126, 127, 128, 129, 130, 137, 139, 143, 254, 255]
        for code, task in zip(codes, self.server.run_all([f"exit {code}" for code in codes])):
            wanted = ("failed", "exit_nonzero") if code else ("succeeded", None)
            self.assertEqual((*wanted, code, None), end_of(task))
            self.assertEqual([], task["limits_hit"])

    def test_R11_a_signal_is_told_as_a_signal(self):
        signals = [s for s in range(1, 32) if s not in (17, 18, 19, 20, 21, 22, 23, 28)] if FULL else [1, 2, 3, 6, 9, 11, 13, 15, 31]
        # Busybox's shell ignores some, so it becomes a program that ignores none.
        commands = [f"(while kill -{number} $$; do sleep 0.1; done) & exec sleep 100" for number in signals]
        for number, task in zip(signals, self.server.run_all(commands)):
            self.assertEqual(("failed", "signal", None, number), end_of(task))
            self.assertEqual("user", task["reason_class"])
            self.assertIn(f"signal {number}", task["message"])

    def test_a_program_that_is_not_there_or_cannot_run_has_a_reason_of_its_own(self):
        cases = [({"command": ["no-such-program"]}, "command_not_found", 127), ({"command": ["/workspace/none"]}, "command_not_found", 127),
                 ({"command": ["./x"], "inputs": [{"path": "x", "content": "true\n"}]}, "not_executable", 126), ({"command": ["/bin"]}, "not_executable", 126),
                 ({"command": ["true"], "working_dir": "/no/such"}, "not_executable", 126),
                 ({"command": ["./x"], "inputs": [{"path": "x", "content": "#!/no/such/interpreter\n", "mode": "0755"}]}, "not_executable", 126)]
        for (spec, reason, code), task in zip(cases, [self.server.submit(**spec) for spec, _, _ in cases]):
            shown = self.server.wait(task)
            self.assertEqual(("failed", reason, code, None), end_of(shown), spec)
            self.assertEqual("user", shown["reason_class"])

    def test_F13_a_code_is_unknown_until_it_is_known_and_then_right(self):
        """F13: null is not zero, at whatever moment one looks."""
        tasks = [self.server.submit("exit 42") for _ in range(count(300))]
        seen, stop = set(), threading.Event()

        def watch(mine):
            while not stop.is_set():
                for task in mine:
                    shown = self.server.show(task)
                    seen.add((shown["state"] in ENDED, shown["exit_code"]))
        watchers = [threading.Thread(target=watch, args=(tasks[i::3],)) for i in range(3)]
        for watcher in watchers:
            watcher.start()
        try:
            ends = {end_of(self.server.wait(task, 300)) for task in tasks}
        finally:
            stop.set()
            for watcher in watchers:
                watcher.join()
        self.assertEqual({("failed", "exit_nonzero", 42, None)}, ends)
        self.assertLessEqual(seen, {(False, None), (True, 42)})

    def test_F14_a_background_child_does_not_hold_the_task(self):
        leave = ["sleep 600 &", "setsid sleep 600 &", "nc -l -p 9999 &", "nc -l -p 9999 >/workspace/f 2>&1 &", "(trap '' TERM HUP; sleep 600) &",
                 "(setsid sh -c 'sleep 600 & sleep 600' &)", "(while :; do echo noise >&2; done) &", "(sleep 600 >&2) & (sleep 600) &"]
        tasks = [self.server.submit(f"{words}\necho mine; exit 4", timeouts={"run": "60s"}) for words in leave]
        for words, task in zip(leave, tasks):
            shown = self.server.wait_gone(task)
            self.assertEqual(("failed", "exit_nonzero", 4, None), end_of(shown), words)
            self.assertEqual(b"mine\n", self.server.logs(task), words)
            self.assertEqual(404, self.engine.request("GET", f"/containers/{self.server.sandbox_of(task)}/json")[0])
        following = self.server.submit("echo next")
        self.assertEqual("succeeded", self.server.wait(following)["state"])
        self.assertEqual(b"next\n", self.server.logs(following))


class Causes(ServerTest):
    """F11: seven ends that look alike by their code."""

    def running(self, command, **spec):
        task = self.server.submit(command, **spec)
        self.server.wait_state(task, "running")
        return task

    def test_F11_main_process_killed_for_memory(self):
        task = self.server.run(EAT.split(), limits=SMALL)
        self.assertEqual(("failed", "oom_killed", None, 9), end_of(task))
        self.assertEqual("policy", task["reason_class"])

    def test_F11_a_child_killed_for_memory_is_a_note(self):
        task = self.server.submit(f"{EAT}; echo code $?; exit 0", limits=SMALL)
        shown = self.server.wait(task)
        self.assertEqual(("succeeded", None, 0, None, ["memory"]), (*end_of(shown), shown["limits_hit"]))
        self.assertEqual(b"code 137\n", self.server.logs(task))
        self.assertIn("memory", [e["data"]["limit"] for e in self.server.events(task) if e["type"] == "task.limit_hit"])

    def test_F11_exit_137_is_an_exit_code_also_after_a_childs_end_for_memory(self):
        plain, after = self.server.submit("exit 137"), self.server.submit(f"{EAT}; exit 137", limits=SMALL)
        self.assertEqual(("failed", "exit_nonzero", 137, None), end_of(self.server.wait(plain)))
        self.assertEqual([], self.server.show(plain)["limits_hit"])
        self.assertEqual(("failed", "exit_nonzero", 137, None), end_of(self.server.wait(after)))
        self.assertEqual(["memory"], self.server.show(after)["limits_hit"])

    def test_F11_killed_from_inside(self):
        task = self.server.submit("(kill -9 1; echo still; kill -9 $$) & wait; sleep 100")
        self.assertEqual(("failed", "signal", None, 9), end_of(self.server.wait(task)))
        self.assertEqual(b"still\n", self.server.logs(task))

    def test_F11_cancelled(self):
        task = self.running(FOREVER)
        self.server.cancel(task)
        self.assertEqual(("cancelled", "cancelled_by_user", None, 15), end_of(self.server.wait(task)))

    def test_F11_timed_out_by_sigkill(self):
        task = self.server.run("trap '' TERM; while :; do sleep 0.1; done", timeouts={"run": "1s", "stop": "1s"})
        self.assertEqual(("timed_out", "run_timeout", None, 9), end_of(task))

    def test_F11_killed_from_outside(self):
        task = self.running("echo before; sleep 100000")
        poll_until(lambda: self.server.logs(task), 30, "output")
        self.engine.json("POST", f"/containers/{self.server.sandbox_of(task)}/kill")
        shown = self.server.wait(task)
        self.assertEqual(("failed", "killed_externally", "infra", None), (shown["state"], shown["reason"], shown["reason_class"], shown["exit_code"]))
        self.assertEqual(b"before\n", self.server.logs(task))
        self.assertEqual(["gap"], [r["kind"] for r in self.server.log_records(task) if r["kind"] != "data"])

    def test_F20_stopped_by_hand(self):
        task = self.running("trap 'echo asked; exit 5' TERM; while :; do sleep 0.1; done")
        self.engine.request("POST", f"/containers/{self.server.sandbox_of(task)}/stop?t=20")
        shown = self.server.wait(task)
        self.assertEqual(("failed", "killed_externally", 5), (shown["state"], shown["reason"], shown["exit_code"]))
        self.assertEqual(b"asked\n", self.server.logs(task))
        self.assertEqual("failed", self.server.cancel(task)["state"])

    def test_F20_removed_by_hand(self):
        task = self.running(FOREVER)
        self.engine.request("DELETE", f"/containers/{self.server.sandbox_of(task)}?force=1")
        shown = self.server.wait_gone(task)
        self.assertIn((shown["state"], shown["reason"]), {("lost", "container_vanished"), ("failed", "killed_externally")})
        self.assertIsNone(shown["exit_code"])


class Timeouts(ServerTest):
    policy = """
apiVersion: mayfly.dev/v1
kind: Policy
spec:
  capacity: {sandboxes: 6, cpus: 64}
"""

    def test_F20_a_busy_loop_ends_at_its_run_time_and_nothing_of_it_is_left(self):
        task = self.server.submit("while :; do :; done", timeouts={"run": "3s"}, limits={"cpus": 0.5})
        self.assertEqual(("timed_out", "run_timeout", None, 15), end_of(self.server.wait_gone(task)))
        self.assertEqual(404, self.engine.request("GET", f"/containers/{self.server.sandbox_of(task)}/json")[0])

    def test_each_limit_of_time_has_its_own_reason(self):
        silent, talks = "sleep 100000", "i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.3; i=$((i+1)); done"
        cases = [("idle, silent", f"echo once; {silent}", {"timeouts": {"idle": "1s"}}, ("timed_out", "idle_timeout")),
                 ("idle, talking", talks, {"timeouts": {"idle": "5s"}}, ("succeeded", None)),
                 ("cpu, busy", "while :; do :; done", {"limits": {"cpu_time": "1s", "cpus": 1}}, ("timed_out", "cpu_time")),
                 ("cpu, in children", "while :; do seq 1 20000 >/dev/null; done", {"limits": {"cpu_time": "1s", "cpus": 1}}, ("timed_out", "cpu_time")),
                 ("cpu, asleep", "sleep 3", {"limits": {"cpu_time": "2s"}}, ("succeeded", None)),
                 ("total", silent, {"timeouts": {"total": "8s"}}, ("timed_out", "total_timeout"))]
        tasks = [self.server.submit(command, **spec) for _, command, spec, _ in cases]
        for (what, _, _, wanted), task in zip(cases, tasks):
            shown = self.server.wait_gone(task)
            # A task whose whole time is over may have been waiting for its start on a slow machine.
            self.assertEqual(wanted, (shown["state"], shown["reason"]), (what, shown["message"]))
            self.assertEqual("policy" if wanted[1] not in (None, "total_timeout") else shown["reason_class"], shown["reason_class"])

    def test_stop_is_the_time_between_term_and_kill(self):
        trap = "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.1; done"
        gentle, at_once, deaf = (self.server.submit(trap, timeouts={"run": "2s", "stop": "60s"}),
                                 self.server.submit(trap, timeouts={"run": "2s", "stop": "0s"}),
                                 self.server.submit("trap '' TERM; echo up; while :; do sleep 0.1; done", timeouts={"run": "2s", "stop": "1s"}))
        # What it did with its grace does not change why it ended.
        self.assertEqual(("timed_out", "run_timeout", 0, None), end_of(self.server.wait(gentle)))
        self.assertEqual(b"up\nasked\n", self.server.logs(gentle))
        self.assertEqual(("timed_out", "run_timeout", None, 9), end_of(self.server.wait(at_once)))
        self.assertEqual(b"up\n", self.server.logs(at_once))
        self.assertEqual(("timed_out", "run_timeout", None, 9), end_of(self.server.wait(deaf)))

    def test_a_start_that_takes_too_long_is_told_as_such_and_leaves_nothing(self):
        task = self.server.submit("echo never", timeouts={"start": "1ms"})
        shown = self.server.wait_gone(task)
        self.assertEqual(("timed_out", "start_timeout", None, None), end_of(shown))
        self.assertEqual(("infra", b""), (shown["reason_class"], self.server.logs(task)))

    def test_a_wait_in_the_queue_ends_at_its_time(self):
        blockers = [self.server.submit(FOREVER, priority=1000) for _ in range(6)]
        for blocker in blockers:
            self.server.wait_state(blocker, "running")
        task = self.server.submit("echo never", timeouts={"queue": "1s"})
        shown = self.server.wait(task)
        self.assertEqual(("timed_out", "queue_timeout", None, None, 0), (*end_of(shown), shown["attempts"]))
        for blocker in blockers:
            self.server.cancel(blocker)
        for blocker in blockers:
            self.assertEqual("cancelled", self.server.wait(blocker)["state"])


class Cancels(ServerTest):
    policy = Timeouts.policy

    def told_ends(self, task):
        return [e["type"] for e in self.server.events(task)].count("task.ended")

    def test_F20_cancel_while_queued(self):
        blockers = [self.server.submit(FOREVER, priority=1000) for _ in range(6)]
        for blocker in blockers:
            self.server.wait_state(blocker, "running")
        waiting = [self.server.submit(FOREVER) for _ in range(3)]
        self.assertIn("place 3 of 3", self.server.show(waiting[2])["pending_reason"])
        self.server.cancel(waiting[1])
        self.assertIn("place 2 of 2", self.server.show(waiting[2])["pending_reason"])
        for task in waiting + blockers:
            self.server.cancel(task)
            self.server.cancel(task)
        for task in waiting:
            shown = self.server.wait_gone(task)
            self.assertEqual(("cancelled", "cancelled_by_user", None, None, 0), (*end_of(shown), shown["attempts"]))
            self.assertEqual(1, self.told_ends(task))
        for task in blockers:
            self.assertEqual(("cancelled", "cancelled_by_user"), end_of(self.server.wait(task))[:2])

    def test_F20_cancel_while_starting(self):
        for _ in range(count(40)):
            task = self.server.submit(FOREVER)
            self.server.wait_state(task, "starting", "running")
            self.server.cancel(task)
            shown = self.server.wait_gone(task)
            self.assertEqual(("cancelled", "cancelled_by_user"), end_of(shown)[:2])
            self.assertEqual((1, "stop"), (self.told_ends(task), shown["desired"]))

    def test_F20_cancel_again_while_stopping(self):
        task = self.server.submit("trap 'echo asked' TERM; echo up; while :; do sleep 0.1; done", timeouts={"stop": "3s"})
        poll_until(lambda: self.server.logs(task) == b"up\n", 60, "the start")
        self.server.cancel(task)
        self.server.wait_state(task, "stopping")
        for _ in range(3):
            self.assertIn(self.server.cancel(task)["state"], {"stopping", "finalizing", "cancelled"})
        self.assertEqual(("cancelled", "cancelled_by_user", None, 9), end_of(self.server.wait_gone(task)))
        self.assertEqual(b"up\nasked\n", self.server.logs(task))
        self.assertEqual(1, self.told_ends(task))

    def test_F20_cancel_while_results_are_collected(self):
        task = self.server.submit("head -c 60000000 /dev/zero > big", outputs=["big"])
        self.server.wait_state(task, "finalizing", "succeeded")
        self.server.cancel(task)
        shown = self.server.wait_gone(task)
        # It had ended by itself.
        self.assertEqual(("succeeded", None, 0, None), end_of(shown))
        self.assertEqual(60000000, self.server.artifacts(task)["big"]["size"])

    def test_F20_cancel_just_as_the_task_ends_by_itself(self):
        tasks = [self.server.submit("sleep 0.05; exit 6") for _ in range(count(60))]
        for task in tasks:
            self.server.wait_state(task, "running", *ENDED)
            self.server.cancel(task)
        for task in tasks:
            shown = self.server.wait_gone(task)
            # A process that ends by itself within the grace of our stop keeps its code beside the cause.
            ends = {("failed", "exit_nonzero", 6, None), ("cancelled", "cancelled_by_user", 6, None), ("cancelled", "cancelled_by_user", None, 15), ("cancelled", "cancelled_by_user", None, None)}
            self.assertIn(end_of(shown), ends)
            self.assertEqual(1, self.told_ends(task))

    def test_F20_a_paused_container_is_cancelled(self):
        task = self.server.submit(FOREVER, timeouts={"stop": "1s"})
        self.server.wait_state(task, "running")
        self.engine.json("POST", f"/containers/{self.server.sandbox_of(task)}/pause")
        self.server.cancel(task)
        self.assertEqual(("cancelled", "cancelled_by_user"), end_of(self.server.wait_gone(task))[:2])

    def test_F20_an_end_is_not_changed_by_a_cancel(self):
        task = self.server.submit("exit 3")
        before = self.server.wait_gone(task)
        self.assertEqual(before, self.server.cancel(task))
        self.assertEqual(before, self.server.show(task))
        status, _, _ = self.server.raw("POST", "/v1/tasks/tsk_00000000000000000000000000/cancel")
        self.assertEqual(404, status)


if __name__ == "__main__":
    unittest.main()

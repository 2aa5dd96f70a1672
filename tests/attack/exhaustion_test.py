"""R01 to R11: tasks that take all they can get, that flood, that hide, and that never end."""

import ctypes
import unittest
import uuid

import probes
from harness import BIN, FULL, ServerTest, count, poll_until

MIB = 1 << 20
# A sanitized server keeps freed memory for a while.
ROOM_OF_SERVER = 32 * 1024 * (4 if b"__asan_init" in (BIN / "mayfly").read_bytes() else 1)


class Exhaustion(ServerTest):
    policy = """
apiVersion: mayfly.dev/v1
kind: Policy
metadata: {name: exhaustion}
spec:
  defaults:
    limits: {memory: 64Mi, workspace: 16Mi, tmp: 8Mi, shm: 4Mi, pids: 64}
    timeouts: {run: 5m, stop: 1s}
"""

    def wait_output(self, task, text):
        poll_until(lambda: text in self.server.logs(task), 60, f"{text!r} in the log of {task}")

    # --- processes ---
    def test_R01_forks_and_threads_end_at_the_limit_and_it_is_said(self):
        forks = self.server.submit("./probe forks; kill -KILL -1", inputs=[probes.as_input()], limits={"pids": 32})
        threads = self.server.submit("exec ./probe threads", inputs=[probes.as_input()], limits={"pids": 32})
        for task, call, name in ((forks, "fork", "children"), (threads, "pthread_create", "threads")):
            shown = self.server.wait(task)
            self.assertEqual(("succeeded", ["pids"]), (shown["state"], shown["limits_hit"]), shown["message"])
            found = probes.outcomes(self.server.logs(task).decode())
            self.assertEqual("EAGAIN", found[call])
            # What was asked for, and at most what is granted beyond it for the runner (kRunnerPidReserve).
            self.assertIn(int(found[name]), range(26, 37))
            self.assertLessEqual(shown["usage"]["pids_peak"], shown["granted"]["pids"])

    def test_R01_a_fork_bomb_is_cancelled(self):
        task = self.server.submit("./probe forks bomb & ./probe forks bomb & wait", inputs=[probes.as_input()],
                                  limits={"pids": 48, "memory": "256Mi"})
        self.wait_output(task, b"fork EAGAIN\n")
        poll_until(lambda: "pids" in self.server.show(task)["limits_hit"], 60, "the limit in the task while it runs")
        self.server.cancel(task)
        shown = self.server.wait_gone(task)
        self.assertEqual(("cancelled", "cancelled_by_user", ["pids"]), (shown["state"], shown["reason"], shown["limits_hit"]))

    # --- space ---
    def test_R03_a_full_disk_is_no_space_for_the_task_alone(self):
        def fill(directory, elsewhere):
            return (f"i=0; while true > {directory}/f$i; do i=$((i+1)); done 2>{elsewhere}; cat {elsewhere}; "
                    f"rm -f {directory}/f* {elsewhere}; " + grow(directory))
        def grow(directory):
            return (f"dd if=/dev/zero of={directory}/big bs=65536 count=4096 2>&1 | grep -v records; stat -c %s {directory}/big; "
                    f"rm {directory}/big; stat -f -c %T {directory}; ")
        task = self.server.submit("exec 2>&1; cd /; " + fill("/tmp", "/dev/shm/err") + grow("/dev/shm")
                                  + fill("/workspace", "/tmp/err") + "echo alive")
        shown = self.server.wait(task)
        self.assertEqual("succeeded", shown["state"])
        lines = self.server.logs(task).decode().splitlines()
        self.assertEqual("alive", lines[-1], lines)
        self.assertEqual(3, lines.count("tmpfs"))
        full = [line for line in lines if line.endswith("No space left on device")]
        self.assertEqual(2 + 3, len(full), lines)  # two times no inodes, three times no bytes
        # No bytes: the files end where their file systems do.
        sizes = [int(line) for line in lines if line.isdigit()]
        for size, limit in zip(sizes, (8 * MIB, 4 * MIB, 16 * MIB), strict=True):
            self.assertIn(size, range(limit - 64 * 1024, limit + 1))

    def test_R03_a_workspace_that_is_full_is_said_while_the_task_runs(self):
        task = self.server.submit("for f in a b; do dd if=/dev/zero of=$f bs=65536 2>/dev/null; done; while :; do sleep 1; done")
        poll_until(lambda: self.server.show(task)["limits_hit"] == ["disk"], 60, "the full disk in the task")
        self.server.cancel(task)
        self.assertEqual("cancelled", self.server.wait(task)["state"])

    # --- objects of the kernel ---
    def test_R05_ipc_objects_are_bounded_and_end_with_the_sandbox(self):
        key = f"0x{uuid.uuid4().int & 0x7FFFFFFF:08x}"
        first = self.server.submit(f"./probe ipc {key}; echo made; while :; do sleep 1; done", inputs=[probes.as_input()])
        self.wait_output(first, b"made\n")
        self.assertFalse(self.host_has(int(key, 16)))
        shown, second = probes.run(self.server, f"./probe ipc {key}")  # a neighbour, while the first lives
        self.assertEqual("succeeded", shown["state"])
        for text in (self.server.logs(first).decode(), second):
            found = probes.outcomes(text)
            for name in ("shm", "msg", "sem"):
                self.assertEqual(("ENOENT", "ok"), (found[name + "-there"], found[name + "-made"]), text)
            for name in ("mq_open", "mq-file"):
                self.assertIn(found[name], {"EMFILE", "EACCES", "ENOSPC"}, text)
        self.server.cancel(first)
        self.server.wait_gone(first)

    def host_has(self, key):
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.shmget(key, 0, 0) >= 0 or libc.msgget(key, 0) >= 0 or libc.semget(key, 0, 0) >= 0

    def test_R05_shared_memory_that_nobody_maps_counts_and_its_end_is_told(self):
        task = self.server.submit("exec ./probe hoard", inputs=[probes.as_input()], limits={"memory": "24Mi"})
        shown = self.server.wait_gone(task)
        self.assertEqual(("failed", "oom_killed"), (shown["state"], shown["reason"]), shown["message"])
        pieces = int(self.server.logs(task).split()[-1])
        self.assertLess(pieces * MIB, shown["granted"]["memory"])
        self.assertGreater(pieces, 8)

    # --- output ---
    def test_R06_a_flood_is_kept_up_to_its_limit_and_no_further(self):
        total, kept = count(1 << 30), 8 * MIB
        self.server.run("true")  # all that a first task makes grow
        before = self.server.memory_kib("VmHWM")
        cut = self.server.submit(f"yes 0123456789abcde | head -c {total}; echo tail >&2; exit 3", on_log_limit="truncate",
                                 limits={"log": kept})
        line = self.server.submit(f"head -c {total} /dev/zero | tr '\\0' '\\377'", limits={"log": kept})
        shown = self.server.wait(cut, 300)
        self.assertEqual(("failed", "exit_nonzero", 3, ["log_truncated"]),
                         (shown["state"], shown["reason"], shown["exit_code"], shown["limits_hit"]))
        self.assertEqual(b"0123456789abcde\n" * (kept // 16), self.server.logs(cut))
        self.assertIn("truncated", {r["kind"] for r in self.server.log_records(cut)})
        shown = self.server.wait(line, 300)
        self.assertEqual(("failed", "log_limit"), (shown["state"], shown["reason"]))
        self.assertTrue(self.server.logs(line) == b"\xff" * kept, "the line without end is not kept exactly")
        self.assertLess(self.server.memory_kib("VmHWM") - before, ROOM_OF_SERVER)

    # --- those who do not want to end ---
    def test_R09_who_ignores_hides_and_stops_is_gone(self):
        hide = "(trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM; (sleep 10000 & sleep 10000) & echo hidden; sleep 10000' &) "
        stubborn = self.server.submit(f"trap '' TERM INT HUP; {hide}; sleep 1000 & echo ready; kill -STOP $$; "
                                      "while :; do sleep 1; done")
        behind = self.server.submit(f"{hide}; until [ -e /workspace/x ]; do touch x; done; exit 5")
        self.wait_output(stubborn, b"ready\n")
        self.wait_output(stubborn, b"hidden\n")
        self.server.cancel(stubborn)
        shown = self.server.wait_gone(stubborn)
        self.assertEqual(("cancelled", "cancelled_by_user", 9), (shown["state"], shown["reason"], shown["signal"]))
        shown = self.server.wait_gone(behind)
        self.assertEqual(("failed", "exit_nonzero", 5), (shown["state"], shown["reason"], shown["exit_code"]))
        self.assertEqual([], [c for c in self.engine.sandboxes()
                              if c["Names"] in (["/" + self.server.sandbox_of(t)] for t in (stubborn, behind))])

    def test_R10_silence_and_endless_dripping_end_for_their_own_reasons(self):
        silent = self.server.submit("sleep 100000", timeouts={"idle": "3s", "run": "10m"})
        dripping = self.server.submit("while :; do echo drip; sleep 0.2; done", timeouts={"idle": "10s", "run": "12s"})
        spinning = self.server.submit("while :; do :; done", limits={"cpu_time": "2s"}, timeouts={"run": "10m"})
        for task, reason in ((silent, "idle_timeout"), (dripping, "run_timeout"), (spinning, "cpu_time")):
            shown = self.server.wait(task)
            self.assertEqual(("timed_out", reason), (shown["state"], shown["reason"]))
        self.assertGreater(self.server.logs(dripping).count(b"drip\n"), 5)

    # --- ends ---
    def test_R11_codes_are_exact_and_the_last_bytes_of_a_flood_are_there(self):
        codes = range(256) if FULL else (0, 1, 2, 63, 100, 124, 125, 126, 127, 128, 130, 137, 143, 254, 255)
        flood = "head -c 1500000 /dev/zero; head -c 700000 /dev/zero >&2; "
        tasks = [(code, self.server.submit(f"{flood} printf tail-{code}; printf rear-{code} >&2; exit {code}")) for code in codes]
        for code, task in tasks:
            shown = self.server.wait(task, 300)
            self.assertEqual(("failed" if code else "succeeded", code, None),
                             (shown["state"], shown["exit_code"], shown["signal"]))
            self.assertTrue(self.server.logs(task) == bytes(1500000) + b"tail-%d" % code, f"stdout of exit {code}")
            self.assertTrue(self.server.logs(task, "stderr") == bytes(700000) + b"rear-%d" % code, f"stderr of exit {code}")

    def test_R11_signals_are_told_by_their_number(self):
        signals = (1, 2, 6, 9, 11, 13, 15, 31, 64)
        tasks = [(number, self.server.submit(f"head -c 300000 /dev/zero; printf tail; kill -{number} $$; sleep 100"))
                 for number in signals]
        for number, task in tasks:
            shown = self.server.wait(task)
            self.assertEqual(("failed", "signal", number, None),
                             (shown["state"], shown["reason"], shown["signal"], shown["exit_code"]))
            self.assertTrue(self.server.logs(task) == bytes(300000) + b"tail", f"output before signal {number}")


if __name__ == "__main__":
    unittest.main()

"""What a task gets is what it was granted: the cgroup, the file systems and the refusals say the same figures."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from harness import BIN, IMAGE, Server, ServerTest, count, poll_until

MIB = 1 << 20
RESERVE = 8 * MIB  # of memory, for the runner; and 4 of pids
FOREVER = "echo up; sleep 100000"
POLICY = """apiVersion: mayfly.dev/v1
kind: Policy
metadata: {name: tight}
spec:
  defaults: {limits: {memory: 128Mi}}
  ceilings:
    limits: {memory: 1Gi, shm: 256Mi, pids: 200, cpus: 2}
    timeouts: {run: 1h}
"""


class Cgroup:
    """The kernel's own figures for a container, of either version."""

    def __init__(self, engine, container):
        pid = engine.json("GET", f"/containers/{container}/json")["State"]["Pid"]
        self.paths = {}
        for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                self.paths[controller] = path
        self.v2 = not pathlib.Path("/sys/fs/cgroup/memory").is_dir()

    def read(self, controller, name):
        top = pathlib.Path("/sys/fs/cgroup") / ("" if self.v2 else controller)
        file = top / self.paths["" if self.v2 else controller].lstrip("/") / name
        return file.read_text().strip() if file.exists() else None

    def figures(self):
        if self.v2:
            quota, period = self.read("cpu", "cpu.max").split()
            swap = int(self.read("memory", "memory.swap.max") or 0)
            return int(self.read("memory", "memory.max")), swap, int(quota) / int(period), int(self.read("pids", "pids.max"))
        memory = int(self.read("memory", "memory.limit_in_bytes"))
        both = self.read("memory", "memory.memsw.limit_in_bytes")
        cpu = int(self.read("cpu", "cpu.cfs_quota_us")) / int(self.read("cpu", "cpu.cfs_period_us"))
        return memory, int(both) - memory if both else 0, cpu, int(self.read("pids", "pids.max"))


class Granted(ServerTest):
    def running(self, **spec):
        task = self.server.submit(FOREVER, **spec)
        poll_until(lambda: self.server.logs(task) == b"up\n", 60, "the start")
        return task

    def test_F26_the_cgroup_has_exactly_what_was_granted_and_no_swap(self):
        asked = [{}, {"memory": "64Mi"}, {"memory": "64Mi", "workspace": "1Mi", "tmp": "4Mi", "shm": "64Ki", "pids": 1, "cpus": 0.1},
                 {"memory": "200M", "workspace": "300Mi", "tmp": "10Mi", "shm": "100Mi", "pids": 333, "cpus": "1250m"}]
        tasks = [self.running(limits=limits) for limits in asked]
        for limits, task in zip(asked, tasks):
            shown = self.server.show(task)
            got, granted = shown["limits"], shown["granted"]
            whole = got["memory"] + got["workspace"] + got["tmp"] + got["shm"] + RESERVE
            self.assertEqual((whole, got["cpus"], got["pids"] + 4), (granted["memory"], granted["cpus"], granted["pids"]), limits)
            memory, swap, cpus, pids = Cgroup(self.engine, self.server.sandbox_of(task)).figures()
            page = os.sysconf("SC_PAGE_SIZE")  # the kernel keeps whole pages
            self.assertEqual((whole // page * page, 0, got["cpus"], got["pids"] + 4), (memory, swap, cpus, pids), limits)
        for task in tasks:
            self.server.cancel(task)

    def test_sizes_of_file_systems_and_descriptors_are_as_granted(self):
        sizes = {"workspace": "24Mi", "tmp": "12Mi", "shm": "6Mi"}
        measure = "for d in /workspace /tmp /dev/shm; do df -k $d | tail -n 1 | awk '{print $2}'; done; ulimit -n; ulimit -c"
        task = self.server.submit(measure, limits={**sizes, "open_files": 77})
        self.assertEqual("succeeded", self.server.wait(task)["state"], self.server.logs(task, "both"))
        self.assertEqual([24 * 1024, 12 * 1024, 6 * 1024, 77, 0], [int(line) for line in self.server.logs(task).split()])

    def test_F26_the_memory_that_was_promised_is_the_one_that_acts(self):
        small = {"memory": "64Mi", "workspace": "1Mi", "tmp": "4Mi", "shm": "64Ki"}
        over, under = [self.server.submit(["dd", "if=/dev/zero", "of=/dev/null", f"bs={size}M", "count=1"], limits=small) for size in (100, 40)]
        self.assertEqual(("failed", "oom_killed"), (lambda t: (t["state"], t["reason"]))(self.server.wait(over)))
        self.assertEqual(("succeeded", []), (lambda t: (t["state"], t["limits_hit"]))(self.server.wait(under)))

    def test_F28_shared_memory_is_as_large_as_the_rule_says(self):
        fill = "dd if=/dev/zero of=/dev/shm/x bs=1M count=100"
        rule, asked = self.server.submit(fill, limits={"memory": "1Gi"}), self.server.submit(fill, limits={"memory": "64Mi", "shm": "64Mi"})
        wide = self.server.submit(fill + " && ls -l /dev/shm/x", limits={"memory": "256Mi", "shm": "128Mi"})
        for task, size in ((rule, 16), (asked, 64)):
            shown = self.server.wait(task)
            self.assertEqual(("failed", "exit_nonzero", 1, size * MIB), (shown["state"], shown["reason"], shown["exit_code"], shown["limits"]["shm"]))
            self.assertIn(b"No space left", self.server.logs(task, "stderr"))
        shown = self.server.wait(wide)
        self.assertEqual("succeeded", shown["state"], self.server.logs(wide, "both"))
        # What lies there is memory.
        self.assertGreaterEqual(shown["usage"]["memory_peak_bytes"], 100 * MIB)
        for shm, memory, status, why in (("2Gi", "1Gi", 422, "ceiling"), ("1Gi", "512Mi", 422, "more than the memory of 512Mi"),
                                         (-1, "1Gi", 400, ""), ("-1", "1Gi", 400, "")):
            got, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "limits": {"memory": memory, "shm": shm}})
            self.assertEqual((status, "/limits/shm"), (got, problem["errors"][0]["pointer"]), shm)
            self.assertIn(why, problem["errors"][0]["detail"])

    def test_F32_tmp_runs_programs_is_bounded_and_shows_no_space_before_a_kill(self):
        program = self.server.submit("printf '#!/bin/sh\\necho ran\\n' > /tmp/s && chmod +x /tmp/s && /tmp/s && cp /tmp/s w && ./w")
        small = {"memory": "64Mi", "tmp": "64Mi"}
        full = self.server.submit("dd if=/dev/zero of=/tmp/x bs=1M count=200; echo code $?; ls -l /tmp/x | awk '{print $5}'", limits=small)
        self.assertEqual(("succeeded", b"ran\nran\n"), (self.server.wait(program)["state"], self.server.logs(program)))
        shown = self.server.wait(full)
        self.assertEqual(("succeeded", []), (shown["state"], [hit for hit in shown["limits_hit"] if hit == "memory"]))
        self.assertEqual(b"code 1\n%d\n" % (64 * MIB), self.server.logs(full))
        self.assertIn(b"No space left", self.server.logs(full, "stderr"))

    def test_F32_a_full_workspace_is_an_error_to_the_task_and_a_note_to_us(self):
        fill = "dd if=/dev/zero of=x bs=1M count=100"
        ends = self.server.submit(fill, limits={"workspace": "16Mi"})
        goes_on = self.server.submit(fill + "; rm x; echo fine > y; cat y", limits={"workspace": "16Mi"})
        shown = self.server.wait(ends)
        self.assertEqual(("failed", "exit_nonzero", 1, ["disk"]), (shown["state"], shown["reason"], shown["exit_code"], shown["limits_hit"]))
        self.assertIn(b"No space left", self.server.logs(ends, "stderr"))
        self.assertEqual("succeeded", self.server.wait(goes_on)["state"])
        self.assertEqual(b"fine\n", self.server.logs(goes_on))

    def test_F29_a_fork_bomb_burns_out_beside_a_neighbour(self):
        limits = {"pids": 64, "memory": "128Mi", "cpus": 0.25}
        bombs = {"twice": "f() { f | f & }; f; while :; do :; done", "sleepers": "while :; do sleep 1000 & done",
                 "short": "while :; do /bin/busybox true; done"}
        tasks = {name: self.server.submit(words, limits=limits, timeouts={"run": "8s", "stop": "1s"}) for name, words in bombs.items()}
        for task in tasks.values():
            self.server.wait_state(task, "running", "failed", "timed_out")
        self.assertEqual("succeeded", self.server.run("echo neighbour | cat")["state"])
        for name, task in tasks.items():
            shown = self.server.wait_gone(task)
            # The runner could still report.
            self.assertIn((shown["state"], shown["reason"]), {("failed", "exit_nonzero"), ("timed_out", "run_timeout")}, name)
            if name != "short":
                self.assertEqual(["pids"], shown["limits_hit"], name)
            self.assertLessEqual(shown["usage"]["pids_peak"], 64 + 4)


class Refusals(ServerTest):
    policy = POLICY

    def errors(self, status, code, **limits):
        timeouts = limits.pop("timeouts", {})
        got, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "limits": limits, "timeouts": timeouts})
        self.assertEqual((status, code), (got, problem["code"]), problem)
        return {error["pointer"]: error["detail"] for error in problem["errors"]}

    def test_over_the_ceiling_is_refused_with_field_value_ceiling_and_line(self):
        found = self.errors(422, "policy_denied", memory="2Gi", pids=201, cpus=2.5, timeouts={"run": "61m"})
        self.assertEqual({"/limits/memory", "/limits/pids", "/limits/cpus", "/timeouts/run"}, set(found))
        for pointer, parts in {"/limits/memory": ("2Gi", "1Gi", "policy.yaml:7:"), "/limits/pids": ("201", "200", "policy.yaml:7:"),
                               "/limits/cpus": ("2.5", "2", "policy.yaml:7:"), "/timeouts/run": ("61m", "1h", "policy.yaml:8:")}.items():
            for part in parts:
                self.assertIn(part, found[pointer])
        self.assertEqual([], self.server.call("GET", "/v1/tasks?limit=200&label=never=there")["items"])
        exact = self.server.submit(["true"], limits={"memory": "1Gi", "pids": 200, "cpus": 2}, timeouts={"run": "1h"})
        self.assertEqual("succeeded", self.server.wait(exact)["state"])

    def test_nothing_of_a_refused_task_is_stored(self):
        before = len(self.server.call("GET", "/v1/tasks?limit=200")["items"])
        self.errors(422, "policy_denied", memory="2Gi")
        self.errors(400, "invalid_argument", memory="2 Gigs")
        self.assertEqual(before, len(self.server.call("GET", "/v1/tasks?limit=200")["items"]))

    def test_what_a_task_leaves_out_the_policy_fills_in(self):
        task = self.server.submit(["true"])
        shown = self.server.show(task)
        self.assertEqual((128 * MIB, 128, 1), (shown["limits"]["memory"], shown["limits"]["pids"], shown["limits"]["cpus"]))
        self.assertRegex(shown["policy_version"], "^sha256:")
        # With little processor the runner must not starve among many processes.
        slow = self.server.show(self.server.submit(["true"], limits={"cpus": 0.25}))
        self.assertEqual(32, slow["limits"]["pids"])
        self.assertEqual(256 * 1024, self.server.show(self.server.submit(["true"], limits={"shm": "256Ki"}))["limits"]["shm"])

    def test_F26_too_little_memory_and_swap_are_refused_by_name(self):
        self.assertIn("6Mi", self.errors(422, "unprocessable", memory="1Mi")["/limits/memory"])
        self.assertEqual(["/limits/memory_swap"], list(self.errors(400, "invalid_argument", memory_swap="1Gi")))
        self.assertEqual(["/limits/memory"], list(self.errors(400, "invalid_argument", memory="-1")))
        self.assertEqual(["/limits/pids"], list(self.errors(400, "invalid_argument", pids=0)))
        self.assertEqual(["/limits/pids"], list(self.errors(400, "invalid_argument", pids=-1)))

    def test_F26_a_policy_that_the_engine_could_not_hold_does_not_start(self):
        cases = {"spec: {defaults: {limits: {memory: 1Mi}}}": "memory", "spec: {ceilings: {limits: {memory: 5Mi}}}": "memory",
                 "spec: {defaults: {limits: {swap: 1Mi}}}": "swap", "spec: {defaults: {limits: {pids: 0}}}": "pids",
                 "spec: {defaults: {limits: {memory: 2Gi}}, ceilings: {limits: {memory: 1Gi}}}": "memory"}
        for text, field in cases.items():
            with tempfile.TemporaryDirectory() as where:
                file = pathlib.Path(where) / "p.yaml"
                file.write_text("apiVersion: mayfly.dev/v1\nkind: Policy\n" + text + "\n")
                ran = subprocess.run([BIN / "mayfly", "serve", "--data-dir", f"{where}/data", "--policy", file], capture_output=True, timeout=60)
                self.assertEqual(2, ran.returncode, ran.stderr)
                self.assertIn(b"p.yaml:3:", ran.stderr)
                self.assertIn(field.encode(), ran.stderr)


class Descriptors(ServerTest):
    policy = "apiVersion: mayfly.dev/v1\nkind: Policy\nspec: {capacity: {sandboxes: 8, cpus: 64}}\n"

    def vanish(self, task, clients):
        for _ in range(clients):
            connection = self.server.connection()
            connection.request("GET", f"/v1/tasks/{task}/events")
            connection.getresponse().read(1)
            connection.close()

    def round(self, tasks):
        """Each kind of life that a task can have, and clients that go away in the middle."""
        long = self.server.submit(["sleep", "100000"])
        short = [self.server.submit(["true"]) for _ in range(tasks)]
        absent = [self.server.submit(["true"], image="mayfly-test/never-there:1") for _ in range(tasks)]
        self.server.wait_state(long, "running")
        self.vanish(long, tasks * 4)
        cancelled = [self.server.submit(["sleep", "100000"]) for _ in range(tasks)]
        for task in cancelled:
            self.server.cancel(task)
        self.server.cancel(long)
        ends = [(self.server.wait_gone(task, 300)["state"], self.server.show(task)["reason"]) for task in [long, *short, *absent, *cancelled]]
        wanted = [("cancelled", "cancelled_by_user")] + [("succeeded", None)] * tasks + [("failed", "image_unavailable")] * tasks
        self.assertEqual(wanted + [("cancelled", "cancelled_by_user")] * tasks, ends)

    def threads(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/task"))

    def test_F34_descriptors_and_threads_come_back_to_where_they_were(self):
        self.round(16)  # as many connections to the engine as there will be
        poll_until(lambda: self.server.metric("mayfly_sandboxes_live") == 0, 60, "rest")
        descriptors, threads = self.server.descriptors(), self.threads()
        self.round(count(500))
        poll_until(lambda: self.server.descriptors() <= descriptors + 2, 90, f"descriptors back at {descriptors}")
        self.assertLessEqual(self.threads(), threads)

    def test_F34_at_the_limit_of_descriptors_new_clients_wait_and_no_task_is_lost(self):
        server = Server(under=["prlimit", "--nofile=128:128"])
        self.addCleanup(server.close)
        server.start()
        held = server.submit(["sleep", "100000"])
        server.wait_state(held, "running")
        tasks = [server.submit("sleep 1; echo done; exit 5") for _ in range(4)]
        streams = [server.stream_events(task) for task in tasks]
        firsts = [next(stream) for stream in streams]
        clients = []
        for _ in range(200):
            client = server.connection()
            client.request("GET", f"/v1/tasks/{held}/events")
            clients.append(client)
        spent, began = server_cpu(server), time.monotonic()
        for first, stream in zip(firsts, streams):
            events = [first, *stream]
            self.assertEqual([5], [data["data"]["exit_code"] for _, kind, data in events if kind == "task.ended"])
        # Clients that cannot be accepted are no reason to be busy.
        self.assertLess(server_cpu(server) - spent, max(1.0, (time.monotonic() - began) / 2))
        self.assertLessEqual(server.descriptors(), 128)
        for client in clients:
            client.close()
        for task in tasks:
            self.assertEqual(b"done\n", server.logs(task))
        server.cancel(held)
        self.assertEqual("cancelled", server.wait_gone(held)["state"])
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual({200}, {answer[0] for answer in pool.map(lambda _: server.raw("GET", "/readyz"), range(100))})


def server_cpu(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()

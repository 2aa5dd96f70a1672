"""Results come back as the task left them, and nothing that is not a regular file of its workspace ever does."""

import io
import pathlib
import tarfile
import tempfile
import unittest

from harness import ServerTest, count, sha256

# Files of every kind of size and name; the task itself says what they hold.
MAKE = r"""
mkdir -p out/deep/er 'out/sp ace' out/empty_directory
head -c 3000000 /dev/urandom > out/big
head -c 49152 /dev/urandom > out/one_payload
head -c 49153 /dev/urandom > out/one_payload_and_a_byte
: > out/nothing
printf 'no newline' > out/deep/er/tail
printf '#!/bin/sh\n' > out/run.sh && chmod 750 out/run.sh
printf 1 > 'out/sp ace/and "quotes"'
printf 2 > "out/$(printf 'new\nline')"
printf 3 > out/日本
printf 4 > out/100%41
printf 5 > 'out/*star?'
printf 6 > out/.hidden
printf skip > other
"""
SUMS = "find out -type f -exec sh -c 'sha256sum < \"$1\"' - {} \\; | cut -c 1-64 | sort; "
NAMES = {"big", "one_payload", "one_payload_and_a_byte", "nothing", "deep/er/tail", "run.sh", "sp ace/and \"quotes\"", "new\nline", "日本", "100%41",
         "*star?", ".hidden"}
POLICY = """
apiVersion: mayfly.dev/v1
kind: Policy
spec:
  ceilings: {limits: {workspace: 1Gi}}
  artifacts: {bytes: 8Mi, files: 200}
"""


class Collected(ServerTest):
    def check(self, task):
        """All of NAMES with the checksums that the task printed."""
        listed = self.server.artifacts(task)
        self.assertEqual({"out/" + name for name in NAMES}, set(listed))
        for path, artifact in listed.items():
            status, headers, data = self.server.raw("GET", artifact["href"])
            self.assertEqual((200, artifact["size"], artifact["sha256"]), (status, len(data), sha256(data)), path)
            self.assertEqual(f'"{artifact["sha256"]}"', headers["ETag"])
            self.assertTrue(headers["Content-Disposition"].startswith("attachment"))
            self.assertEqual(("application/octet-stream", "nosniff"), (headers["Content-Type"], headers["X-Content-Type-Options"]))
        self.assertEqual(self.server.logs(task).decode().split(), sorted(artifact["sha256"] for artifact in listed.values()))
        self.assertEqual("0750", listed["out/run.sh"]["mode"])
        return listed

    def test_results_come_back_however_the_task_ended(self):
        ends = {"exit 0": ({}, "succeeded", None), "exit 9": ({}, "failed", "exit_nonzero"), "kill -9 $$": ({}, "failed", "signal"),
                "sleep 1000": ({"timeouts": {"run": "3s", "stop": "1s"}}, "timed_out", "run_timeout"),
                "trap '' TERM; while :; do sleep 0.1; done": ({"timeouts": {"run": "3s", "stop": "1s"}}, "timed_out", "run_timeout"),
                "sleep 2000": ({"timeouts": {"idle": "2s"}}, "timed_out", "idle_timeout"),
                "exec yes >&2": ({"limits": {"log": "1Mi"}}, "failed", "log_limit"),
                "exec dd if=/dev/zero of=/dev/null bs=900M count=1": ({"limits": {"memory": "64Mi"}}, "failed", "oom_killed")}
        tasks = [self.server.submit(MAKE + SUMS + end, outputs=["out/**"], **spec) for end, (spec, _, _) in ends.items()]
        for (end, (_, state, reason)), task in zip(ends.items(), tasks):
            shown = self.server.wait(task)
            self.assertEqual((state, reason), (shown["state"], shown["reason"]), (end, shown["message"]))
            self.check(task)
            # They are ours now: nothing of the sandbox is needed.
            self.server.wait_gone(task)
            self.check(task)

    def test_all_results_as_one_tar_and_through_the_command_line(self):
        task = self.server.submit(MAKE + SUMS, outputs=["out/**"])
        self.server.wait(task)
        listed = self.check(task)
        status, _, data = self.server.raw("GET", f"/v1/tasks/{task}/artifacts.tar")
        self.assertEqual(200, status)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            members = {member.name: member for member in tar.getmembers()}
            self.assertEqual(set(listed), set(members))
            for path, member in members.items():
                self.assertTrue(member.isreg())
                self.assertEqual(listed[path]["sha256"], sha256(tar.extractfile(member).read()))
                self.assertEqual(int(listed[path]["mode"], 8), member.mode)
        with tempfile.TemporaryDirectory() as where:
            ran = self.server.mayfly("artifacts", task, "--output", where)
            self.assertEqual(0, ran.returncode, ran.stderr)
            written = {str(p.relative_to(where)): sha256(p.read_bytes()) for p in pathlib.Path(where).rglob("*") if p.is_file()}
        self.assertEqual({path: artifact["sha256"] for path, artifact in listed.items()}, written)
        one = self.server.mayfly("artifacts", task, "out/deep/er/tail")
        self.assertEqual((0, b"no newline"), (one.returncode, one.stdout))

    def test_patterns_choose(self):
        cases = {("out/*",): {n for n in NAMES if "/" not in n}, ("out/deep/**",): {"deep/er/tail"}, ("**/tail",): {"deep/er/tail"},
                 ("out/one_payload*",): {"one_payload", "one_payload_and_a_byte"}, ("out/?ig", "out/[n-o]othing"): {"big", "nothing"},
                 ("out/\\*star\\?",): {"*star?"}, ("out/run.sh", "out/run.*"): {"run.sh"}, ("none/**", "*.none"): set()}
        tasks = {patterns: self.server.submit(MAKE, outputs=list(patterns)) for patterns in cases}
        for patterns, task in tasks.items():
            self.assertEqual("succeeded", self.server.wait(task)["state"], patterns)
            self.assertEqual({"out/" + name for name in cases[patterns]}, set(self.server.artifacts(task)), patterns)

    def test_ranges_and_tags_of_a_result(self):
        task = self.server.submit("seq 1 100000 > n", outputs=["n"])
        self.server.wait(task)
        whole = self.server.artifact(task, "n")
        href = self.server.artifacts(task)["n"]["href"]
        tag = f'"{sha256(whole)}"'
        for headers, wanted, part in (({"Range": "bytes=5-9"}, 206, whole[5:10]), ({"Range": "bytes=-3"}, 206, whole[-3:]),
                                      ({"Range": "bytes=5-9", "If-Range": tag}, 206, whole[5:10]), ({"Range": "bytes=5-9", "If-Range": '"x"'}, 200, whole),
                                      ({"If-None-Match": tag}, 304, b"")):
            status, _, data = self.server.raw("GET", href, headers=headers)
            self.assertEqual((wanted, sha256(part)), (status, sha256(data)), headers)
        self.assertEqual(416, self.server.raw("GET", href, headers={"Range": f"bytes={len(whole)}-"})[0])
        self.assertEqual(404, self.server.raw("GET", href + "x")[0])


class Hostile(ServerTest):
    """F46: what a task puts where its results should be."""

    policy = POLICY

    def missing(self, command, outputs, *named, **spec):
        """The task once it failed for the result that is none."""
        task = self.server.submit(command, outputs=outputs, **spec)
        shown = self.server.wait(task)
        self.assertEqual(("failed", "output_missing", 0), (shown["state"], shown["reason"], shown["exit_code"]), command)
        for name in named:
            self.assertIn(name, shown["message"])
        return task

    def test_F46_what_is_no_regular_file_is_no_result_and_nothing_hangs(self):
        makes = ["ln -s /etc/shadow r", "ln -s /proc/1/environ r", "ln -s r r", "mkfifo r", "mkdir -p r/x && echo y > r/x/y", "ln -s /.mayfly/runner r", ":"]
        tasks = [self.server.submit(make, outputs=["r"]) for make in makes]
        for make, task in zip(makes, tasks):
            shown = self.server.wait_gone(task)
            self.assertEqual(("failed", "output_missing", "user", 0), (shown["state"], shown["reason"], shown["reason_class"], shown["exit_code"]), make)
            self.assertIn("r", shown["message"])
            self.assertEqual({}, self.server.artifacts(task), make)

    def test_F46_links_are_never_followed_by_a_pattern(self):
        trap = ("echo good > good; mkdir d; echo in > d/in; ln -s /etc e; ln -s /proc/self/root root; ln -s /proc/1 one; ln -s .. up; ln -s d linked; "
                "ln -s good again; mkfifo pipe; ln good hard")
        task = self.server.submit(trap, outputs=["**", "e/**", "root/etc/*", "one/environ", "up/*", "linked/*", "pipe"])
        shown = self.server.wait_gone(task)
        self.assertEqual({"good", "d/in", "hard"}, set(self.server.artifacts(task)), shown["message"])
        self.assertEqual(b"good\n", self.server.artifact(task, "hard"))
        # The two that were named without a wildcard are missing, the rest is kept.
        self.assertEqual(("failed", "output_missing"), (shown["state"], shown["reason"]))
        self.assertIn("pipe", shown["message"])
        self.assertIn("one/environ", shown["message"])

    def test_F46_a_result_that_is_swapped_to_the_last_moment_is_the_file_or_nothing(self):
        swap = ("(while :; do ln -sf /proc/version l; mv l r; echo real > n; mv n r; mkdir k 2>/dev/null; done) & "
                "until [ -e r ]; do :; done; exit 0")
        for task in [self.server.submit(swap, outputs=["r"]) for _ in range(count(100))]:
            shown = self.server.wait(task)
            if shown["state"] == "succeeded":
                self.assertEqual(b"real\n", self.server.artifact(task, "r"))
            else:
                self.assertEqual("output_missing", shown["reason"])
                self.assertEqual({}, self.server.artifacts(task))

    def test_F46_sizes_are_counted_in_bytes_that_were_read(self):
        sparse = self.missing("truncate -s 100M r", ["r"], "8388608 bytes")
        self.assertEqual({}, self.server.artifacts(sparse))
        many = self.missing("for i in 1 2 3 4 5; do head -c 2000000 /dev/zero > r$i; done", ["r*"], "8388608 bytes")
        # What was collected before is kept.
        kept = self.server.artifacts(many)
        self.assertEqual({"r1", "r2", "r3", "r4"}, set(kept))
        self.assertEqual({2000000}, {artifact["size"] for artifact in kept.values()})
        task = self.server.submit("truncate -s 10G r", outputs=["r"])
        self.assertNotEqual("succeeded", self.server.wait(task)["state"])
        exact = self.server.submit("head -c 8388608 /dev/zero > r", outputs=["r"])
        self.assertEqual("succeeded", self.server.wait(exact)["state"])
        self.assertEqual(8 << 20, self.server.artifacts(exact)["r"]["size"])

    def test_F46_the_number_of_results_is_bounded(self):
        exact = self.server.submit("i=0; while [ $i -lt 200 ]; do echo $i > f$i; i=$((i+1)); done", outputs=["f*"])
        self.missing("i=0; while [ $i -lt 201 ]; do echo $i > f$i; i=$((i+1)); done", ["f*"], "200 files")
        self.assertEqual("succeeded", self.server.wait(exact)["state"])
        listed = self.server.artifacts(exact)
        self.assertEqual(200, len(listed))
        self.assertEqual(b"137\n", self.server.artifact(exact, "f137"))

    def test_F46_one_file_that_cannot_be_read_does_not_cost_the_others(self):
        make = "echo 1 > a; echo 2 > b; chmod 000 b; echo 3 > c; mkdir d; echo 4 > d/e; chmod 000 d; echo 5 > z"
        task = self.server.submit(make, outputs=["**"])
        shown = self.server.wait(task)
        self.assertEqual({"a", "c", "z"}, set(self.server.artifacts(task)))
        # Declared and not delivered: never a success, and the reason is told.
        self.assertEqual(("failed", "output_missing", 0), (shown["state"], shown["reason"], shown["exit_code"]))
        self.assertIn("b (Permission denied)", shown["message"])

    def test_F46_what_matched_and_is_no_file_is_told_as_an_event(self):
        task = self.server.submit("echo 1 > a; ln -s a l; mkfifo p; mkdir d; chmod 000 d", outputs=["**"])
        self.assertEqual("succeeded", self.server.wait_gone(task)["state"])
        told = [event["data"] for event in self.server.events(task) if event["type"] == "task.outputs_skipped"]
        self.assertEqual([{"paths": ["d", "l", "p"], "count": 3}], told)

    def test_F46_patterns_that_reach_outside_are_refused_at_submit(self):
        for pattern in ("/etc/passwd", "../x", "a/../../x", "a//b", "./a", "", "a/", "x\0y", "[", "a" * 1025):
            status, problem = self.server.refuse({"image": "x", "command": ["true"], "outputs": ["fine", pattern]})
            self.assertEqual((400, "/outputs/1"), (status, problem["errors"][0]["pointer"]), pattern)


if __name__ == "__main__":
    unittest.main()

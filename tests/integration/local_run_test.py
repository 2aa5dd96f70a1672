"""`mayfly run`: the same life in one process, without a server."""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BIN, IMAGE, Engine, poll_until, sha256


class LocalRun(unittest.TestCase):
    def setUp(self):
        self.where = pathlib.Path(tempfile.mkdtemp(prefix="mayfly-it-run-"))
        self.addCleanup(shutil.rmtree, self.where)
        self.engine = Engine()

    def command(self, *words):
        return [str(BIN / "mayfly"), "run", "--state-dir", str(self.where / "state"), *map(str, words)]

    def run_it(self, *words, input=None, env=None, clean=True):
        ran = subprocess.run(self.command(*words), input=input, capture_output=True, timeout=240, env={**os.environ, **(env or {})})
        if clean:
            self.assertEqual([], self.left())
        return ran

    def sh(self, script, *options):
        return self.run_it(*options, IMAGE, "--", "sh", "-c", script)

    def left(self):
        """What the engine still has of the runs in this state directory."""
        ours = {file.read_text().split("\n")[0] for file in self.where.glob("state/*/installation")}
        return [o.get("Names", [o.get("Name")])[0] for o in self.engine.sandboxes() + self.engine.volumes()
                if (o["Labels"] or {}).get("dev.mayfly.installation") in ours]

    def started(self, *words):
        """A run whose task has said "up"."""
        process = subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.assertEqual(b"up\n", process.stdout.readline())
        return process

    def test_the_exit_code_and_both_streams_are_the_tasks_own(self):
        ran = self.sh("echo out; echo err >&2; printf tail; exit 9")
        self.assertEqual((9, b"out\ntail"), (ran.returncode, ran.stdout))
        self.assertTrue(ran.stderr.startswith(b"err\n"), ran.stderr)
        self.assertIn(b"exit code 9", ran.stderr)
        quiet = self.sh("echo err >&2; exit 9", "--quiet")
        self.assertEqual((9, b"", b"err\n"), (quiet.returncode, quiet.stdout, quiet.stderr))

    def test_ends_that_are_not_the_tasks_own_have_the_documented_codes(self):
        file = self.where / "t.yaml"
        cases = {0: "command: ['true']", 124: "command: [sleep, '1000']\ntimeouts: {run: 1s, stop: 1s}", 126: "command: [/bin]", 127: "command: [no-such]",
                 137: "script: kill -9 $$", 139: "script: kill -11 $$", 1: "command: ['true']\noutputs: [none]", 255: "script: exit 255"}
        for code, lines in cases.items():
            file.write_text(f"image: {IMAGE}\n{lines}\n")
            self.assertEqual(code, self.run_it(file).returncode, lines)
        file.write_text("image: mayfly-test/never-there:1\ncommand: ['true']\n")
        ran = self.run_it(file)
        self.assertEqual(125, ran.returncode)
        self.assertIn(b'"mayfly-test/never-there:1" is not on the engine', ran.stderr)

    def test_results_are_copied_to_the_directory_that_was_named(self):
        file, results = self.where / "t.yaml", self.where / "results"
        script = "mkdir -p d/e; head -c 300000 /dev/urandom > d/e/big; cat in > same; sha256sum < d/e/big | cut -c 1-64; exit 3"
        file.write_text(f"image: {IMAGE}\nscript: |\n  {script}\n"
                        "inputs: [{path: in, content: 'brought'}]\noutputs: ['**']\n")
        ran = self.run_it("--outputs", results, file)
        self.assertEqual(3, ran.returncode, ran.stderr)
        found = {str(p.relative_to(results)): sha256(p.read_bytes()) for p in results.rglob("*") if p.is_file()}
        self.assertEqual({"d/e/big": ran.stdout.decode().strip(), "same": sha256(b"brought"), "in": sha256(b"brought")}, found)

    def test_a_results_directory_that_cannot_be_made_costs_the_results_and_leaves_nothing(self):
        (self.where / "file").write_text("in the way")
        file = self.where / "t.yaml"
        file.write_text(f"image: {IMAGE}\nscript: echo shown; echo x > r\noutputs: [r]\n")
        ran = self.run_it("--outputs", self.where / "file" / "below", file)
        self.assertEqual((True, b"shown\n"), (ran.returncode != 0, ran.stdout))
        self.assertIn(str(self.where / "file").encode(), ran.stderr)
        self.assertNotIn(b"internal error", ran.stderr)

    def test_ctrl_c_cancels_and_nothing_is_left(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            process = self.started(IMAGE, "sh", "-c", "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.1; done")
            process.send_signal(how)
            self.assertEqual(130, process.wait(120))
            self.assertEqual(b"asked\n", process.stdout.read())
            self.assertEqual([], self.left())

    def test_ctrl_c_twice_leaves_at_once_and_the_next_run_cleans_up(self):
        process = self.started(IMAGE, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
        process.send_signal(signal.SIGINT)
        self.assertIn(b"once more", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(120))
        self.assertNotEqual([], self.left())
        self.assertEqual(4, self.sh("exit 4").returncode)

    def test_what_a_killed_run_left_the_next_run_cleans_up(self):
        process = self.started(IMAGE, "sh", "-c", "echo up; sleep 100000")
        process.kill()
        process.wait(60)
        self.assertNotEqual([], self.left())
        self.assertEqual(4, self.sh("exit 4").returncode)

    def test_runs_at_once_do_not_disturb_each_other(self):
        first = self.started(IMAGE, "sh", "-c", "echo up; sleep 100000")
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            others = [pool.submit(self.run_it, IMAGE, "sh", "-c", f"echo {code}; exit {code}", clean=False) for code in (5, 6, 7)]
            self.assertEqual([(5, b"5\n"), (6, b"6\n"), (7, b"7\n")], [(o.result().returncode, o.result().stdout) for o in others])
        self.assertIsNone(first.poll())
        first.send_signal(signal.SIGINT)
        self.assertEqual(130, first.wait(120))
        self.assertEqual([], self.left())

    def test_without_an_engine_it_says_so(self):
        gone = self.where / "no-engine.sock"
        for words, env in ((("--engine", f"unix://{gone}"), {}), ((), {"DOCKER_HOST": f"unix://{gone}"})):
            ran = self.run_it(*words, IMAGE, "true", env=env, clean=False)
            self.assertEqual((125, b""), (ran.returncode, ran.stdout))
            last = ran.stderr.decode().splitlines()[-1]
            self.assertTrue(last.startswith("mayfly: the container engine is not usable"), last)
            self.assertIn(str(gone), last)

    def test_a_file_that_is_no_task_is_refused_with_its_place(self):
        file = self.where / "bad.yaml"
        file.write_text(f"image: {IMAGE}\ncommand: ['true']\nlimits:\n  memroy: 1Gi\n")
        ran = self.run_it(file, clean=False)
        self.assertEqual(2, ran.returncode)
        self.assertRegex(ran.stderr.decode(), r"bad\.yaml:4:\d+.*memroy")
        self.assertEqual(2, self.run_it(self.where / "none.yaml", clean=False).returncode)
        self.assertEqual(2, self.run_it(IMAGE, clean=False).returncode)

    def test_a_policy_holds_here_too(self):
        policy, file = self.where / "p.yaml", self.where / "t.yaml"
        policy.write_text("apiVersion: mayfly.dev/v1\nkind: Policy\nspec:\n  ceilings: {limits: {memory: 64Mi}}\n")
        file.write_text(f"image: {IMAGE}\ncommand: ['true']\nlimits: {{memory: 65Mi}}\n")
        ran = self.run_it("--policy", policy, file)
        self.assertEqual(1, ran.returncode)
        for part in (b"/limits/memory", b"65Mi", b"64Mi", b"p.yaml:4:"):
            self.assertIn(part, ran.stderr)
        file.write_text(f"image: {IMAGE}\ncommand: ['true']\n")
        self.assertEqual(0, self.run_it("--policy", policy, file).returncode)

    def test_a_task_comes_on_standard_input_and_options_of_the_task_stay_its_own(self):
        ran = self.run_it("-", input=f"image: {IMAGE}\ncommand: [echo, -n, yes, 0100]\n".encode())
        self.assertEqual((0, b"yes 0100"), (ran.returncode, ran.stdout))
        ran = self.run_it(IMAGE, "echo", "--quiet", "--help", "--")
        self.assertEqual((0, b"--quiet --help --\n"), (ran.returncode, ran.stdout))

    def test_binary_output_passes_as_it_is(self):
        ran = self.sh("head -c 500000 /dev/urandom | tee /tmp/x; sha256sum < /tmp/x | cut -c 1-64 >&2", "--quiet")
        self.assertEqual((0, 500000), (ran.returncode, len(ran.stdout)))
        self.assertEqual(ran.stderr.decode().strip(), sha256(ran.stdout))

    def test_a_reader_that_goes_away_ends_the_run_and_leaves_nothing(self):
        process = self.started(IMAGE, "sh", "-c", "echo up; while :; do echo more; done")
        process.stdout.close()
        process.wait(120)
        poll_until(lambda: not self.left(), 60, "nothing left")


if __name__ == "__main__":
    unittest.main()

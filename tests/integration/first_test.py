"""A task end to end, as a user meets it."""

import unittest

from harness import ServerTest, sha256


class FirstSteps(ServerTest):
    def test_a_task_runs_and_its_output_and_code_come_back(self):
        task = self.server.submit("echo hello; echo trouble >&2; printf world; exit 3")
        shown = self.server.wait_gone(task)
        self.assertEqual(("failed", "exit_nonzero", 3), (shown["state"], shown["reason"], shown["exit_code"]))
        self.assertEqual(b"hello\nworld", self.server.logs(task))
        self.assertEqual(b"trouble\n", self.server.logs(task, "stderr"))

    def test_inputs_script_and_stdin_reach_the_task_and_outputs_come_back(self):
        task = self.server.submit(script="cat in/a.txt > out.txt; cat >> out.txt; mkdir d; head -c 300000 /dev/urandom > d/x",
                                  inputs=[{"path": "in/a.txt", "content": "input\n"}], stdin="stdin\n", outputs=["out.txt", "d/**"])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(b"input\nstdin\n", self.server.artifact(task, "out.txt"))
        listed = self.server.artifacts(task)
        self.assertEqual(listed["d/x"]["sha256"], sha256(self.server.artifact(task, "d/x")))
        self.assertEqual(300000, listed["d/x"]["size"])

    def test_events_tell_the_life_in_order_and_end(self):
        task = self.server.submit("true")
        kinds = [e["type"] for e in self.server.events(task) if "type" in e]
        order = ["task.queued", "task.starting", "task.running", "task.ended", "sandbox.destroyed"]
        self.assertEqual(order, [k for k in kinds if k in order])

    def test_the_command_line_gives_the_exit_code_of_the_task(self):
        ran = self.server.mayfly("submit", "-f", "mayfly-test/busybox:1", "--", "sh", "-c", "echo out; exit 42")
        self.assertEqual((42, b"out\n"), (ran.returncode, ran.stdout))


if __name__ == "__main__":
    unittest.main()

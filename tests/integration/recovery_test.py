"""A server that goes away and comes back: tasks run on, logs are whole, keys and queues are kept. And an engine that is not there."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from harness import BIN, IMAGE, Engine, Server, ServerTest, count, poll_until, sha256

# Counts until somebody makes the file, so that a test decides when it ends.
COUNTING = "i=0; until [ -e go ]; do echo $i; i=$((i+1)); usleep 1000; done; echo end $i; exit 8"
WAITING = "echo up; until [ -e go ]; do sleep 0.05; done; "


def counted(log):
    """Whether this is what COUNTING writes, whole."""
    last = int(log.split()[-1])
    return log == b"".join(b"%d\n" % i for i in range(last)) + b"end %d\n" % last


class Restart(ServerTest):
    policy = "apiVersion: mayfly.dev/v1\nkind: Policy\nspec: {capacity: {sandboxes: 4, cpus: 64}}\n"

    def setUp(self):
        # What a failed test may have left.
        if self.server.process.poll() is not None:
            self.server.start()
        for task in self.server.call("GET", "/v1/tasks?limit=200&state=queued,starting,running")["items"]:
            self.server.cancel(task["id"])

    def let_go(self, task):
        self.assertEqual(0, self.engine.exec(self.server.sandbox_of(task), "/bin/touch", "/workspace/go"))

    def leave(self, how):
        code = self.server.stop(how)
        self.assertEqual(0 if how == signal.SIGTERM else -how, code)

    def running(self, command, **spec):
        task = self.server.submit(command, **spec)
        poll_until(lambda: len(self.server.logs(task)) > 0, 60, "first output")
        return task

    def survive(self, how):
        task = self.running(COUNTING)
        before = list(take_until(self.server.stream_events(task), "task.first_output"))
        self.leave(how)
        self.server.start()
        self.assertIn(self.server.show(task)["state"], {"running", "starting"})
        size = len(self.server.logs(task))
        poll_until(lambda: len(self.server.logs(task)) > size + 1000, 60, "more output")
        self.let_go(task)
        shown = self.server.wait_gone(task)
        self.assertEqual(("failed", "exit_nonzero", 8, 1), (shown["state"], shown["reason"], shown["exit_code"], shown["attempts"]))
        self.assertTrue(counted(self.server.logs(task)))
        self.assertEqual([], [r for r in self.server.log_records(task) if r["kind"] != "data"])
        # A client that stood behind the last event goes on there, and has each once.
        events = before + list(self.server.stream_events(task, before[-1][0]))
        self.assertEqual(list(self.server.stream_events(task)), events)
        self.assertEqual(1, [kind for _, kind, _ in events].count("task.ended"))

    def test_a_running_task_survives_a_restart_and_its_log_is_whole(self):
        self.survive(signal.SIGTERM)

    def test_a_running_task_survives_a_killed_server_and_its_log_is_whole(self):
        self.survive(signal.SIGKILL)

    def test_a_log_is_whole_over_many_killed_servers(self):
        task = self.running(COUNTING)
        for _ in range(count(60)):
            size = len(self.server.logs(task))
            self.leave(signal.SIGKILL)
            self.server.start()
            poll_until(lambda: len(self.server.logs(task)) > size, 60, "more output")
        self.let_go(task)
        self.assertEqual(8, self.server.wait(task)["exit_code"])
        self.assertTrue(counted(self.server.logs(task)))

    def test_a_log_that_was_damaged_meanwhile_has_a_gap_and_the_task_goes_on(self):
        task = self.running(COUNTING)
        poll_until(lambda: len(self.server.logs(task)) > 4000, 60, "more output")
        self.leave(signal.SIGKILL)
        [segment] = self.server.data.glob(f"logs/**/{task}/*.log")
        with open(segment, "r+b") as file:
            middle = segment.stat().st_size // 2
            file.seek(middle)
            byte = file.read(1)[0]
            file.seek(middle)
            file.write(bytes([byte ^ 1]))
        self.server.start()
        self.let_go(task)
        self.assertEqual(8, self.server.wait(task)["exit_code"])
        gaps = [record["detail"]["reason"] for record in self.server.log_records(task) if record["kind"] == "gap"]
        self.assertEqual(["log_damaged", "messages_lost"], gaps)
        lines = self.server.logs(task).split(b"\n")
        self.assertTrue(lines[-2].startswith(b"end "), lines[-3:])

    def test_what_ended_while_no_server_was_there_is_told_with_its_results(self):
        task = self.running(WAITING + "head -c 900000 /dev/urandom > r; sha256sum < r | cut -c 1-64; seq 1 50000; exit 4", outputs=["r"])
        sandbox = self.server.sandbox_of(task)
        self.leave(signal.SIGKILL)
        self.assertEqual(0, self.engine.exec(sandbox, "/bin/touch", "/workspace/go"))
        # Its own process is gone from the sandbox before the next server comes; the runner holds what is to be told.
        poll_until(lambda: len(self.engine.json("GET", f"/containers/{sandbox}/top")["Processes"]) == 1, 60, "the end of the process")
        self.server.start()
        shown = self.server.wait_gone(task)
        self.assertEqual(("failed", "exit_nonzero", 4), (shown["state"], shown["reason"], shown["exit_code"]))
        log = self.server.logs(task).split(b"\n", 2)
        self.assertEqual((b"up", sha256(b"".join(b"%d\n" % i for i in range(1, 50001)))), (log[0], sha256(log[2])))
        self.assertEqual(log[1].decode(), sha256(self.server.artifact(task, "r")))

    def test_a_sandbox_that_was_killed_while_no_server_was_there_is_told_as_such(self):
        task, removed = self.running("echo up; sleep 100000"), self.running("echo up; sleep 100000")
        names = self.server.sandbox_of(task), self.server.sandbox_of(removed)
        self.leave(signal.SIGKILL)
        self.engine.json("POST", f"/containers/{names[0]}/kill")
        self.engine.request("DELETE", f"/containers/{names[1]}?force=1")
        self.server.start()
        self.assertEqual(("failed", "killed_externally"), (lambda t: (t["state"], t["reason"]))(self.server.wait_gone(task)))
        self.assertEqual(("lost", "container_vanished"), (lambda t: (t["state"], t["reason"]))(self.server.wait_gone(removed)))

    def test_the_queue_and_the_keys_outlive_a_killed_server(self):
        blockers = [self.running(WAITING) for _ in range(4)]
        body, headers = json.dumps({"image": IMAGE, "command": ["sh", "-c", "exit 3"]}), {"Content-Type": "application/json", "Idempotency-Key": "kept"}
        first = json.loads(self.server.raw("POST", "/v1/tasks", body, headers)[2])["id"]
        queued = [first, *(self.server.submit(f"exit {i}") for i in range(4, 8))]
        self.leave(signal.SIGKILL)
        self.server.start()
        self.assertEqual({"queued"}, {self.server.show(task)["state"] for task in queued})
        status, answered, data = self.server.raw("POST", "/v1/tasks", body, headers)
        self.assertEqual((201, "true", first), (status, answered["Idempotency-Replayed"], json.loads(data)["id"]))
        status, _, data = self.server.raw("POST", "/v1/tasks", body.replace("exit 3", "exit 4"), headers)
        self.assertEqual((422, "idempotency_mismatch"), (status, json.loads(data)["code"]))
        for task in blockers:
            self.let_go(task)
        self.assertEqual([3, 4, 5, 6, 7], [self.server.wait(task)["exit_code"] for task in queued])
        self.assertEqual({"succeeded"}, {self.server.wait(task)["state"] for task in blockers})

    def test_tasks_that_were_in_any_step_end_once_and_right_after_a_kill(self):
        rounds, tasks = count(40), []
        for number in range(rounds):
            tasks += [(self.server.submit(f"echo {code}; exit {code}"), code) for code in range(number % 3, number % 3 + 5)]
            poll_until(lambda: self.server.show(tasks[-4 if number % 2 else -1][0])["state"] != "queued", 120, "a start")
            self.leave(signal.SIGKILL)
            self.server.start()
        for task, code in tasks:
            shown = self.server.wait_gone(task, 300)
            self.assertEqual(code, shown["exit_code"], shown)
            self.assertEqual(b"%d\n" % code, self.server.logs(task))
            self.assertEqual(1, [event["type"] for event in self.server.events(task)].count("task.ended"))

    def test_F20_a_cancel_that_was_answered_is_carried_out_by_the_next_server(self):
        task = self.running("trap '' TERM; echo up; while :; do sleep 0.1; done", timeouts={"stop": "1s"})
        self.server.cancel(task)
        self.leave(signal.SIGKILL)
        self.server.start()
        shown = self.server.wait_gone(task)
        self.assertEqual(("cancelled", "cancelled_by_user", 9), (shown["state"], shown["reason"], shown["signal"]))

    def test_F20_a_cancel_reaches_a_container_that_was_paused_before_the_server_came(self):
        task = self.running("echo up; sleep 100000", timeouts={"stop": "1s"})
        self.leave(signal.SIGTERM)
        self.engine.json("POST", f"/containers/{self.server.sandbox_of(task)}/pause")
        self.server.start()
        self.server.cancel(task)
        self.assertEqual(("cancelled", "cancelled_by_user"), (lambda t: (t["state"], t["reason"]))(self.server.wait_gone(task)))

    def test_a_follower_of_the_command_line_sees_the_whole_log_over_a_restart(self):
        task = self.running(COUNTING)
        env = {**os.environ, "MAYFLY_SERVER": str(self.server.socket)}
        with subprocess.Popen([BIN / "mayfly", "logs", "-f", task], stdout=subprocess.PIPE, env=env) as follower:
            head = follower.stdout.read(20)
            self.leave(signal.SIGTERM)
            self.server.start()
            self.let_go(task)
            whole = head + follower.stdout.read()
            self.assertEqual(0, follower.wait(60))
        self.assertTrue(counted(whole))

    def test_streams_end_and_nothing_new_is_taken_while_the_server_stops(self):
        task = self.running(WAITING)
        readers = []
        for path in (f"/v1/tasks/{task}/events", f"/v1/tasks/{task}/logs?follow=true"):
            connection = self.server.connection()
            connection.request("GET", path)
            readers.append((connection, connection.getresponse()))
            self.assertNotEqual(b"", readers[-1][1].read1(65536))
        self.leave(signal.SIGTERM)
        for connection, answer in readers:
            # Cut, without the chunk that would say that this was all.
            self.assertRaises((OSError, http.client.IncompleteRead), answer.read)
            connection.close()
        self.assertFalse(self.server.socket.exists())
        self.server.start()
        self.let_go(task)
        self.assertEqual("succeeded", self.server.wait(task)["state"])

    def test_a_second_server_on_the_same_data_is_refused(self):
        command = [BIN / "mayfly", "serve", "--data-dir", self.server.data, "--socket", self.server.dir / "other.sock"]
        second = subprocess.run(command, capture_output=True, timeout=60)
        self.assertEqual(125, second.returncode)
        self.assertIn(str(self.server.data).encode(), second.stderr)
        self.assertEqual("succeeded", self.server.run("true")["state"])


class Drain(ServerTest):
    arguments = ("--drain",)

    def test_a_draining_server_waits_for_what_runs_and_refuses_what_comes(self):
        task = self.server.submit(WAITING + "exit 5")
        poll_until(lambda: self.server.logs(task) == b"up\n", 60, "the start")
        sandbox = self.server.sandbox_of(task)
        self.server.process.send_signal(signal.SIGTERM)
        def refused():
            body = json.dumps({"image": IMAGE, "command": ["true"]})
            status, headers, data = self.server.raw("POST", "/v1/tasks", body, {"Content-Type": "application/json"})
            return status == 503 and (headers, json.loads(data))
        headers, problem = poll_until(refused, 60, "a refusal")
        self.assertEqual(("unavailable", True, True), (problem["code"], problem["retryable"], "Retry-After" in headers))
        self.assertEqual(503, self.server.raw("GET", "/readyz")[0])
        self.assertEqual("running", self.server.show(task)["state"])
        self.engine.exec(sandbox, "/bin/touch", "/workspace/go")
        self.assertEqual(0, self.server.process.wait(60))
        self.server.start()
        shown = self.server.show(task)
        self.assertEqual(("failed", 5), (shown["state"], shown["exit_code"]))


class NoEngine(unittest.TestCase):
    """The engine is out of reach when the server starts."""

    def setUp(self):
        self.where = pathlib.Path(tempfile.mkdtemp(prefix="mayfly-it-engine-"))
        self.addCleanup(shutil.rmtree, self.where)

    def server(self, address):
        server = Server(env={"DOCKER_HOST": f"unix://{address}"})
        self.addCleanup(server.close)
        return server.start("/livez")

    def look(self, server):
        """What holds while there is no engine."""
        status, _, data = server.raw("GET", "/readyz?verbose=true")
        checks = {check["name"]: check for check in json.loads(data)["checks"]}
        self.assertEqual((503, False, True), (status, checks["engine"]["ok"], checks["disk"]["ok"]))
        task = server.submit("echo at last")
        shown = server.show(task)
        self.assertEqual(("queued", 0), (shown["state"], shown["attempts"]))
        self.assertIn("engine_unreachable", shown["pending_reason"])
        other = server.submit("echo never")
        server.cancel(other)
        self.assertEqual(("cancelled", 0), (lambda t: (t["state"], t["attempts"]))(server.wait(other)))
        self.assertIsNone(server.call("GET", "/v1/capabilities", expect=200)["runtime"])
        self.assertEqual(0, server.metric("mayfly_engine_up"))
        return task, checks["engine"]["detail"]

    def test_tasks_wait_and_say_why_until_the_engine_is_there(self):
        address = self.where / "engine.sock"
        server = self.server(address)
        task, detail = self.look(server)
        self.assertIn(str(address), poll_until(lambda: server.show(task)["pending_reason"], 10, "a reason") + detail)
        address.symlink_to(Engine().path)
        shown = server.wait_gone(task)
        self.assertEqual(("succeeded", b"at last\n"), (shown["state"], server.logs(task)))
        self.assertEqual(200, server.raw("GET", "/readyz")[0])
        self.assertEqual(1, server.metric("mayfly_engine_up"))

    def test_an_engine_that_takes_connections_and_says_nothing_holds_up_no_one(self):
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(self.where / "mute.sock"))
            mute.listen(64)
            server = self.server(self.where / "mute.sock")
            self.look(server)
            self.assertEqual(0, server.stop())

    def test_an_engine_that_talks_nonsense_is_not_believed(self):
        door = self.where / "odd.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(door))
            listener.listen(64)
            closing = threading.Event()

            def answer():
                while not closing.is_set():
                    try:
                        client, _ = listener.accept()
                        client.recv(65536)
                        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"ApiVersion\": \"9.99\"}"[:-1])
                        client.close()
                    except OSError:
                        return
            talker = threading.Thread(target=answer, daemon=True)
            talker.start()
            server = self.server(door)
            self.look(server)
            self.assertEqual(0, server.stop())
            closing.set()
            listener.shutdown(socket.SHUT_RDWR)
            talker.join(10)


def take_until(events, last):
    for event in events:
        yield event
        if event[1] == last:
            events.close()
            return


if __name__ == "__main__":
    unittest.main()

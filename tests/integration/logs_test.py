"""What a task writes arrives: every byte, once, in order within its stream, and the log says where it was cut."""

import concurrent.futures
import hashlib
import json
import unittest

from harness import BIN, FULL, ServerTest, b64, count, poll_until, sha256

# Four sandboxes at once, so that a test can hold all others in the queue.
POLICY = """
apiVersion: mayfly.dev/v1
kind: Policy
spec:
  capacity: {sandboxes: 4, cpus: 64}
  ceilings: {limits: {log: 4Gi}}
"""
MIB = 1 << 20


def texts(records):
    """The bytes of each stream by the records of an NDJSON log, which must join without a gap."""
    import base64
    found = {"stdout": b"", "stderr": b""}
    for record in records:
        if record["kind"] != "data":
            continue
        if record["offset"] != len(found[record["stream"]]):
            raise AssertionError(f"a record at {record['offset']} behind {len(found[record['stream']])} bytes")
        data = record["text"].encode() if "text" in record else base64.b64decode(record["data_base64"])
        found[record["stream"]] += data
    return found


def notes(records):
    return [record["kind"] for record in records if record["kind"] != "data"]


class Tails(ServerTest):
    policy = POLICY

    def blocked(self):
        """Tasks that hold all places; others stay queued until they are cancelled."""
        tasks = [self.server.submit(["sleep", "100000"], priority=1000) for _ in range(4)]
        for task in tasks:
            self.server.wait_state(task, "running")
        return tasks

    def follow(self, task):
        """What a reader sees that came before the start: the log, and the stored log when the end was told."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            live = pool.submit(self.server.raw, "GET", f"/v1/tasks/{task}/logs?stream=stdout&follow=true", timeout=300)
            kinds, at_end = [], None
            for _, kind, _ in self.server.stream_events(task):
                kinds.append(kind)
                if kind == "task.ended":
                    at_end = self.server.logs(task)
            return live.result()[2], at_end, kinds

    def test_F01_last_line_without_newline_arrives_live_and_stored(self):
        runs = count(200)
        blockers = self.blocked()
        tasks = [self.server.submit("printf 'hello\\nworld'") for _ in range(runs)]
        with concurrent.futures.ThreadPoolExecutor(runs) as pool:
            followed = [pool.submit(self.follow, task) for task in tasks[::2]]
            self.assertEqual({"queued"}, {self.server.show(task)["state"] for task in tasks})
            for blocker in blockers:
                self.server.cancel(blocker)
            for reader in followed:
                live, at_end, kinds = reader.result()
                self.assertEqual((b"hello\nworld", b"hello\nworld"), (live, at_end))
                self.assertEqual(1, kinds.count("task.ended"))
                self.assertEqual("end", kinds[-1])
        for task in tasks:
            self.assertEqual("succeeded", self.server.wait(task)["state"])
            self.assertEqual(b"hello\nworld", self.server.logs(task))
            self.assertEqual([], notes(self.server.log_records(task)))

    def test_F07_a_task_that_is_gone_at_once_ends_and_leaves_no_reader_waiting(self):
        runs = count(500)
        tasks = [self.server.submit(["true"]) for _ in range(runs)]
        for task in tasks:
            shown = self.server.wait(task, 300)
            self.assertEqual(("succeeded", 0), (shown["state"], shown["exit_code"]))
            # Opened long after the end: these must come to theirs.
            self.assertEqual([], self.server.log_records(task, follow=True))
            self.assertEqual("end", self.server.events(task)[-1]["type"])
            self.assertEqual(b"", self.server.raw("GET", f"/v1/tasks/{task}/logs?follow=true")[2])

    def test_F10_code_and_stderr_outlive_the_container(self):
        quick = [self.server.submit("exit 7") for _ in range(count(300))]
        later = [self.server.submit("sleep 0.3; exit 7") for _ in range(count(50))]
        wordy = [self.server.submit("echo why >&2; exit 7") for _ in range(count(20))]
        for task in quick + later + wordy:
            shown = self.server.wait_gone(task, 300)
            self.assertEqual(("failed", "exit_nonzero", 7), (shown["state"], shown["reason"], shown["exit_code"]))
            gone = self.server.sandbox_of(task)
            self.assertEqual(404, self.engine.request("GET", f"/containers/{gone}/json")[0])
            self.assertEqual(404, self.engine.request("GET", f"/volumes/{gone}-ws")[0])
            # Removed by us and after the verdict: nothing but our own destroy ended the sandbox.
            kinds = [event["type"] for event in self.server.events(task)]
            self.assertLess(kinds.index("task.ended"), kinds.index("sandbox.destroyed"))
        for task in wordy:
            self.assertEqual(b"why\n", self.server.logs(task, "stderr"))

    def test_R11_the_last_bytes_of_a_flood_and_the_code_behind_it_are_kept(self):
        flood = "head -c 3000000 /dev/zero | tr '\\0' x; printf END; exit 9"
        for task in [self.server.submit(flood) for _ in range(count(20))]:
            shown = self.server.wait(task)
            self.assertEqual(("failed", 9), (shown["state"], shown["exit_code"]))
            self.assertEqual(sha256(b"x" * 3000000 + b"END"), sha256(self.server.logs(task)))


class Lines(ServerTest):
    policy = POLICY

    def test_F02_a_long_line_is_never_split_by_anything_foreign(self):
        line = json.dumps({"text": "a" * 39_988}).encode()
        self.assertEqual(40_000, len(line))
        task = self.server.submit("cat in; echo; echo short", inputs=[{"path": "in", "content_base64": b64(line)}])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(line + b"\nshort\n", self.server.logs(task))
        self.assertEqual(line + b"\nshort\n", texts(self.server.log_records(task))["stdout"])
        with self.server.connection() as connection:
            connection.request("GET", f"/v1/tasks/{task}/logs?stream=stdout", headers={"Accept": "text/plain"})
            self.assertEqual(line + b"\nshort\n", connection.getresponse().read())

    def test_F02_five_megabytes_on_one_line_come_back_whole(self):
        task = self.server.submit("head -c 5000000 /dev/zero | tr '\\0' z; echo; echo short")
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        whole = b"z" * 5_000_000 + b"\nshort\n"
        self.assertEqual(sha256(whole), sha256(self.server.logs(task)))
        self.assertEqual(sha256(whole), sha256(texts(self.server.log_records(task))["stdout"]))

    @unittest.skipIf(b"__asan_init" in (BIN / "mayfly").read_bytes(), "the sanitizer's own memory hides what is measured")
    def test_F02_the_server_does_not_hold_a_long_line_in_memory(self):
        size = 256 * MIB if FULL else 96 * MIB
        before = self.server.memory_kib("VmHWM")
        task = self.server.submit(f"head -c {size} /dev/zero | tr '\\0' z", limits={"log": "1Gi", "cpus": 2})
        self.assertEqual("succeeded", self.server.wait(task, 300)["state"])
        connection = self.server.connection()
        connection.request("GET", f"/v1/tasks/{task}/logs?stream=stdout")
        answer = connection.getresponse()
        got = 0
        while piece := answer.read(MIB):
            self.assertEqual(len(piece), piece.count(b"z"))
            got += len(piece)
        connection.close()
        self.assertEqual(size, got)
        self.assertLess(self.server.memory_kib("VmHWM") - before, 32 * 1024)

    def test_F04_order_within_a_stream_is_exact(self):
        writes = "echo 1; echo 2 >&2; echo 3; echo 4 >&2"
        for task in [self.server.submit(writes) for _ in range(count(300))]:
            self.assertEqual("succeeded", self.server.wait(task, 300)["state"])
            records = self.server.log_records(task)
            self.assertEqual({"stdout": b"1\n3\n", "stderr": b"2\n4\n"}, texts(records))
            self.assertEqual([], notes(records))

    def test_F04_ten_thousand_alternating_lines_are_all_there_once(self):
        loop = "i=0; while [ $i -lt 10000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done"
        task = self.server.submit(loop)
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        wanted = {name: b"".join(f"{word} {i}\n".encode() for i in range(10000)) for name, word in (("stdout", "out"), ("stderr", "err"))}
        records = self.server.log_records(task)
        self.assertEqual(wanted, texts(records))
        self.assertEqual(wanted["stdout"], self.server.logs(task))
        self.assertEqual(wanted["stderr"], self.server.logs(task, "stderr"))
        # Both in stored order: the pieces of the one may part lines of the other, and nothing is dropped for it.
        self.assertEqual("".join(record["text"] for record in records).encode(), self.server.logs(task, "both"))

    def test_F05_a_hundred_thousand_short_lines_come_back_whole(self):
        task = self.server.submit(["seq", "1", "100000"])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(b"".join(b"%d\n" % i for i in range(1, 100001)), self.server.logs(task))

    def test_bytes_come_back_as_written_whatever_they_are(self):
        odd = bytes(range(256)) + "Grüße 日本".encode() + b"\xf0\x9f\x98" + b"\x1b[31m\r\n\0\0" + b"data: x\n\nid: 9\n\n"
        task = self.server.submit("cat in; cat in >&2; head -c 700000 /dev/urandom | tee r", inputs=[{"path": "in", "content_base64": b64(odd)}],
                                  outputs=["r"])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        random = self.server.artifact(task, "r")
        self.assertEqual(700000, len(random))
        self.assertEqual({"stdout": sha256(odd + random), "stderr": sha256(odd)},
                         {name: sha256(data) for name, data in texts(self.server.log_records(task)).items()})
        self.assertEqual(odd + random, self.server.logs(task))


class Limits(ServerTest):
    policy = POLICY

    def test_F08_R06_endless_output_ends_with_its_own_reason_and_a_note(self):
        task = self.server.submit(["yes"], limits={"log": 10_000_000})
        shown = self.server.wait(task)
        self.assertEqual(("failed", "log_limit", "policy"), (shown["state"], shown["reason"], shown["reason_class"]))
        self.assertEqual(b"y\n" * 5_000_000, self.server.logs(task))
        records = self.server.log_records(task)
        self.assertEqual(["truncated"], notes(records))
        self.assertEqual("truncated", records[-1]["kind"])

    def test_F08_output_before_a_timeout_is_kept(self):
        task = self.server.submit("head -c 1024 /dev/zero | tr '\\0' k; sleep 1000", timeouts={"run": "2s", "stop": "1s"})
        shown = self.server.wait(task)
        self.assertEqual(("timed_out", "run_timeout"), (shown["state"], shown["reason"]))
        self.assertEqual(b"k" * 1024, self.server.logs(task))

    def test_F08_exactly_the_limit_is_not_over_it(self):
        task = self.server.submit("head -c 60000 /dev/zero | tr '\\0' a; head -c 5536 /dev/zero | tr '\\0' b >&2", limits={"log": "64Ki"})
        shown = self.server.wait(task)
        self.assertEqual(("succeeded", [], 0), (shown["state"], shown["limits_hit"], shown["exit_code"]))
        self.assertEqual((60000, 5536), (len(self.server.logs(task)), len(self.server.logs(task, "stderr"))))
        self.assertEqual([], notes(self.server.log_records(task)))

    def test_F08_passing_the_limit_in_the_very_last_write_gives_one_end(self):
        over = "head -c 65537 /dev/zero | tr '\\0' a; exit 0"
        tasks = [self.server.submit(over, limits={"log": "64Ki"}) for _ in range(count(100))]
        for task in tasks:
            shown = self.server.wait_gone(task, 300)
            self.assertEqual(("failed", "log_limit"), (shown["state"], shown["reason"]))
            self.assertEqual(b"a" * 65536, self.server.logs(task))
            self.assertEqual(1, [e["type"] for e in self.server.events(task)].count("task.ended"))

    def test_F08_a_log_can_be_cut_while_the_task_goes_on(self):
        task = self.server.submit("head -c 200000 /dev/zero | tr '\\0' a; echo made > f; exit 0", limits={"log": "64Ki"},
                                  on_log_limit="truncate", outputs=["f"])
        shown = self.server.wait(task)
        self.assertEqual(("succeeded", ["log_truncated"], 0), (shown["state"], shown["limits_hit"], shown["exit_code"]))
        self.assertEqual(b"a" * 65536, self.server.logs(task))
        self.assertEqual(b"made\n", self.server.artifact(task, "f"))
        records = self.server.log_records(task)
        self.assertEqual(["truncated"], notes(records))
        self.assertEqual("truncated", records[-1]["kind"])

    def test_F08_the_engine_keeps_no_log_of_its_own(self):
        task = self.server.submit("head -c 300000 /dev/zero; sleep 100000")
        poll_until(lambda: len(self.server.logs(task)) == 300000, 60, "the output")
        config = self.engine.json("GET", f"/containers/{self.server.sandbox_of(task)}/json")["HostConfig"]["LogConfig"]
        self.assertEqual("none", config["Type"])
        self.server.cancel(task)
        self.assertEqual("cancelled", self.server.wait(task)["state"])


class Readers(ServerTest):
    policy = POLICY

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.task = cls.server.submit("seq 1 20000; seq 1 5000 >&2; exit 3")
        cls.server.wait_gone(cls.task)
        cls.out = b"".join(b"%d\n" % i for i in range(1, 20001))
        cls.err = b"".join(b"%d\n" % i for i in range(1, 5001))

    def read(self, query="", headers=None):
        return self.server.raw("GET", f"/v1/tasks/{self.task}/logs{query}", headers=headers)

    def test_a_log_is_resumed_where_a_reader_stood(self):
        for start in (0, 1, 4095, 65536, len(self.out) - 1, len(self.out)):
            self.assertEqual(self.out[start:], self.read(f"?stream=stdout&stdout_from={start}")[2])
        self.assertEqual((b"", 200), self.read(f"?stream=stdout&stdout_from={len(self.out) + 1}")[::-2])
        rest = self.read(f"?stdout_from={len(self.out) - 6}&stderr_from={len(self.err) - 5}", {"Accept": "application/x-ndjson"})[2]
        found = {"stdout": b"", "stderr": b""}
        for line in rest.splitlines():
            record = json.loads(line)
            found[record["stream"]] += record["text"].encode()
        self.assertEqual({"stdout": self.out[-6:], "stderr": self.err[-5:]}, found)

    def test_ranges_give_exactly_their_bytes(self):
        size = len(self.out)
        for asked, first, last in (("0-0", 0, 0), ("10-19", 10, 19), (f"{size - 4}-", size - 4, size - 1), ("-7", size - 7, size - 1),
                                   (f"100-{size * 2}", 100, size - 1)):
            status, headers, data = self.read("?stream=stdout", {"Range": f"bytes={asked}"})
            self.assertEqual((206, f"bytes {first}-{last}/{size}", self.out[first:last + 1]), (status, headers["Content-Range"], data))
        status, headers, _ = self.read("?stream=stdout", {"Range": f"bytes={size}-"})
        self.assertEqual((416, f"bytes */{size}"), (status, headers["Content-Range"]))

    def test_events_go_on_behind_the_last_id(self):
        whole = list(self.server.stream_events(self.task))
        self.assertEqual("end", whole[-1][1])
        ids = [number for number, _, _ in whole[:-1]]
        self.assertEqual(list(range(1, len(ids) + 1)), ids)
        for last in (0, *ids[:-1]):
            self.assertEqual([e for e in whole if e[0] > last or e[1] == "end"], list(self.server.stream_events(self.task, last)))
        status, _, _ = self.server.raw("GET", f"/v1/tasks/{self.task}/events", headers={"Last-Event-ID": str(ids[-1])})
        self.assertEqual(204, status)
        for wrong in ("x", "-1", "1.5", "99999999999999999999", ""):
            status, _, data = self.server.raw("GET", f"/v1/tasks/{self.task}/events", headers={"Last-Event-ID": wrong})
            self.assertEqual((400, "invalid_argument"), (status, json.loads(data)["code"]), wrong)

    def test_a_reader_that_left_goes_on_while_the_task_runs(self):
        task = self.server.submit("echo one; sleep 100000")
        first = self.server.stream_events(task)
        seen = []
        for event in first:
            seen.append(event)
            if event[1] == "task.first_output":
                break
        first.close()
        self.server.cancel(task)
        seen += list(self.server.stream_events(task, seen[-1][0]))
        self.assertEqual("end", seen[-1][1])
        self.assertEqual([event for event in self.server.stream_events(task)], seen)
        self.assertEqual(b"one\n", self.server.logs(task))

    def test_many_readers_of_a_running_log_see_the_same(self):
        lines = 30000
        task = self.server.submit(f"seq 1 {lines}; sleep 0.2; echo last")
        wanted = hashlib.sha256(b"".join(b"%d\n" % i for i in range(1, lines + 1)) + b"last\n").hexdigest()
        path = f"/v1/tasks/{task}/logs?stream=stdout&follow=true"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for reader in [pool.submit(self.server.raw, "GET", path, timeout=300) for _ in range(8)]:
                self.assertEqual(wanted, sha256(reader.result()[2]))


if __name__ == "__main__":
    unittest.main()

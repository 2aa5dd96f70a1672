"""The channel on a real engine: mayfly-runner in a container of the test's own, spoken to over raw attaches; then the product
beside somebody who attaches to our container, and with a runner that lies."""

import contextlib
import io
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import uuid

import harness
from harness import BIN, IMAGE, Engine, ServerTest, UnixConnection, poll_until, sanitized, sha256

sys.path.append(str(harness.TOP / "tests" / "support"))
import channel_wire as wire
from channel_peer import Carrier, Peer

KIB = 1 << 10
SPEC = {"argv": ["/bin/sh", "-c", "true"], "script": False, "env": {"PATH": "/bin"}, "cwd": "/workspace", "stdin": False,
        "open_files": 256, "file_size": 0, "run_ms": 0, "idle_ms": 0, "cpu_ms": 0, "stop_ms": 1000, "log_bytes": 0,
        "truncate_log": False, "lease_ms": 600000, "spool_bytes": 4 << 20}


def shell(code, **more):
    return {**SPEC, "argv": ["/bin/sh", "-c", code], **more}


class Channel(unittest.TestCase):
    engine = Engine()

    def setUp(self):
        self.container = "mayfly-test-channel-" + uuid.uuid4().hex[:16]
        tmpfs = "rw,nosuid,nodev,exec,size=16m,mode=0777,uid=65532,gid=65532"
        self.engine.json("POST", f"/containers/create?name={self.container}", {
            "Image": IMAGE, "Entrypoint": ["/mayfly-runner"], "Cmd": [], "User": "65532:65532", "WorkingDir": "/workspace",
            "OpenStdin": True, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True,
            "HostConfig": {"NetworkMode": "none", "Memory": 128 << 20, "Init": False, "LogConfig": {"Type": "none"},
                           "Tmpfs": {"/workspace": tmpfs, "/tmp": tmpfs}}})
        self.addCleanup(self.engine.request, "DELETE", f"/containers/{self.container}?force=1&v=1")
        self.carriers = []
        self.addCleanup(lambda: [c.close() for c in self.carriers])  # before the removal, which an unread attach would hold up
        self.copy_runner()

    def copy_runner(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            info = tarfile.TarInfo("mayfly-runner")
            data = (BIN / "mayfly-runner").read_bytes()
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
        connection = UnixConnection(self.engine.path, 60)
        connection.request("PUT", f"/containers/{self.container}/archive?path=/", buffer.getvalue(),
                           {"Content-Type": "application/x-tar"})
        answer = connection.getresponse()
        self.assertEqual(200, answer.status, answer.read())
        connection.close()

    def start(self):
        self.engine.json("POST", f"/containers/{self.container}/start")

    def carrier(self):
        self.carriers.append(Carrier(self.engine.path, self.container))
        return self.carriers[-1]

    def started_peer(self, epoch=1):
        peer, carrier = Peer(), self.carrier()
        self.start()
        peer.open(carrier, epoch)
        return peer

    def wait_ended(self, peer, **expected):
        peer.until(lambda: peer.said("ended"), what="ended")
        ended = peer.said("ended")[0]
        self.assertEqual({"exit": 0, "signal": None, "cause": "none", **expected},
                         {k: ended[k] for k in ("exit", "signal", "cause")})
        return ended

    def exit_code(self):
        return self.engine.json("POST", f"/containers/{self.container}/wait")["StatusCode"]

    def release(self, peer):
        peer.send("release")
        self.assertEqual(0, self.exit_code())

    # --- opening ---
    def test_channel_hello_tells_what_the_runner_is(self):
        hello = self.started_peer().hello
        self.assertEqual((1, "parked", "", 0, 0, 0), tuple(hello[k] for k in ("protocol", "state", "attempt", "got", "sent", "acked")))
        self.assertRegex(hello["instance"], "^[0-9a-f]{32}$")
        self.assertEqual((65532, 1, False, ["lo"]), tuple(hello["self"][k] for k in ("uid", "pid", "dumpable", "interfaces")))

    def test_channel_half_a_line_from_before_the_start_harms_nothing(self):
        early = self.carrier()
        early.send(b"half a line of nobody" + wire.notification("attach", 9, nonce="ffff", got=0)[:40])
        early.close()
        peer = self.started_peer()
        self.assertEqual(0, peer.hello["got"])
        peer.bind("att_a", shell("echo out"))
        self.wait_ended(peer)
        self.assertEqual(b"out\n", peer.output())

    def test_channel_lower_epochs_and_other_nonces_are_dropped(self):
        peer = self.started_peer(epoch=5)
        other = {"nonce": "00ff", "got": 0}
        for epoch in (4, 1, 0, 5):  # of the current epoch a second nonce is nobody
            peer.carrier.send(b"\n" + wire.notification("attach", epoch, **other))
        peer.carrier.send(wire.notification("put", 4, 1, b"stale", to="stdin", off=0))
        hello = peer.ask_hello()
        self.assertEqual((peer.nonce, 5, 0), (hello["nonce"], hello["e"], hello["got"]))
        self.assertEqual({peer.nonce}, {h["nonce"] for h in peer.hellos})
        self.assertEqual(0, peer.dropped)

    def test_K10_channel_what_is_no_attach_opens_nothing(self):
        carrier, peer = self.carrier(), Peer()
        self.start()
        text = json.dumps(shell("echo evil")).encode()
        usurper = (wire.notification("attach", 7, got=0), wire.notification("attach", 7, nonce="ab"),
                   wire.notification("attach", 7, nonce=5, got=0),
                   wire.record({"jsonrpc": "2.0", "method": "attach", "params": {"nonce": "ab", "got": 0}}),
                   wire.record({"jsonrpc": "2.0", "method": "attach", "params": [7]}),
                   wire.record({"jsonrpc": "2.0", "method": "attach"}),
                   wire.notification("put", 0, 1, text, to="spec", off=0), wire.notification("put", 7, 1, text, to="spec", off=0),
                   wire.notification("bind", 7, 2, attempt="att_evil", spec_bytes=len(text), spec_crc=wire.crc32c(text)))
        carrier.send(b"\n" + b"".join(usurper))
        peer.open(carrier, 7)  # the very epoch that they named
        self.assertEqual(("parked", 0, ""), tuple(peer.hello[k] for k in ("state", "got", "attempt")))
        self.assertEqual([], peer.messages)

    # --- what stands on the wire ---
    def test_channel_a_stale_bind_after_a_new_hello_is_dropped(self):
        old = self.started_peer()
        text = json.dumps(shell("echo stale")).encode()
        old.put("spec", text)
        old.ask_hello()
        new = Peer()
        new.last_number = 1  # as after the hello of one who took over
        hello = new.open(self.carrier(), 2)
        self.assertEqual(1, hello["got"])
        old.carrier.send(wire.notification("bind", 1, 2, attempt="att_stale", spec_bytes=len(text), spec_crc=wire.crc32c(text)))
        old.carrier.send(wire.notification("stop", 1, 3, reason="cancelled_by_user", kill=True, grace_ms=0))
        old.carrier.send(wire.notification("ack", 1, got=100))
        self.carriers[0].close()
        hello = new.ask_hello()
        self.assertEqual(("parked", "", 1), (hello["state"], hello["attempt"], hello["got"]))
        new.send("bind", attempt="att_new", spec_bytes=len(text), spec_crc=wire.crc32c(text))
        self.wait_ended(new)
        self.assertEqual((b"stale\n", ["att_new"]), (new.output(), [s["attempt"] for s in new.said("started")]))

    def test_channel_a_wrong_crc_is_dropped_and_asked_for_again(self):
        peer = self.started_peer()
        line = bytearray(wire.notification("put", 1, 1, b"evil", to="workspace", path="a", mode=0o644, off=0))
        for at in (20, len(line) // 2, len(line) - 2):
            spoilt = bytearray(line)
            spoilt[at] ^= 1 if spoilt[at] ^ 1 != 0x0A else 2
            peer.carrier.send(bytes(spoilt))
        self.assertEqual(0, peer.ask_hello()["got"])
        self.assertGreater(peer.naks, 0)
        peer.put("workspace", b"good", path="a", mode=0o644)
        peer.bind("att_a", shell("cat a"))
        self.wait_ended(peer)
        self.assertEqual(b"good", peer.output())

    def test_channel_lines_of_two_clients_spliced_at_32_KiB_lose_nothing_of_the_living(self):
        old = self.started_peer()
        data = random.Random(1).randbytes(48 * KIB)
        whole = wire.notification("put", 1, 1, data, to="workspace", path="old", mode=0o644, off=0)
        old.carrier.send(whole[:32 * KIB])
        new = Peer()
        new.open(self.carrier(), 2)
        content = random.Random(2).randbytes(300 * KIB)
        # Both write at once: the engine splices them wherever it likes.
        def write_old():
            with contextlib.suppress(OSError):
                old.carrier.send(whole[32 * KIB:] + whole * 8)
        writer = threading.Thread(target=write_old)
        writer.start()
        new.put("workspace", content, path="new", mode=0o644)
        new.until(lambda: not new.unacknowledged, again=lambda: new.resend(0), what="acknowledged puts")
        writer.join()
        self.carriers[0].close()
        new.bind("att_a", shell("sha256sum new; ls"))
        self.wait_ended(new)
        self.assertEqual(f"{sha256(content)}  new\nnew\n".encode(), new.output())

    def test_channel_lines_over_the_bound_and_noise_are_dropped(self):
        peer = self.started_peer()
        for noise in (b"x" * (70 * KIB), b"", b"\n", os.urandom(8 * KIB), b"{}00000000", b"\0", b"[" * 5000):
            peer.carrier.send(noise + b"\n")
        for head in ([1, 2], "text", {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "method": "no_such", "params": {"e": 1, "n": 9}}):
            peer.carrier.send(wire.record(head))
        self.assertEqual(("parked", 0), tuple(peer.ask_hello()[k] for k in ("state", "got")))
        peer.bind("att_a", shell("exit 4"))
        self.wait_ended(peer, exit=4)

    # --- once in a life ---
    def test_channel_a_second_bind_is_refused_and_a_repeat_does_nothing(self):
        peer = self.started_peer()
        peer.bind("att_first", shell("echo ran; until [ -e go ]; do sleep 0.1; done", stdin=False))
        peer.until(lambda: peer.output() == b"ran\n", what="the first output")
        peer.bind("att_first", shell("echo again"))
        peer.bind("att_second", shell("echo second > go; echo second"))
        peer.put("workspace", b"", path="go", mode=0o644)  # no inputs any more, either
        self.assertEqual("att_first", peer.ask_hello()["attempt"])
        self.assertEqual({"att_first"}, {s["attempt"] for s in peer.said("started")})
        peer.send("stop", reason="cancelled_by_user", kill=False, grace_ms=0)
        self.wait_ended(peer, exit=None, signal=9, cause="cancelled_by_user")
        self.assertEqual(("ended", "att_first"), tuple(peer.ask_hello()[k] for k in ("state", "attempt")))
        peer.bind("att_third", shell("echo third"))
        self.assertEqual(("ended", "att_first"), tuple(peer.ask_hello()[k] for k in ("state", "attempt")))
        self.assertEqual((b"ran\n", 1, 1), (peer.output(), len(peer.said("started")), len(peer.said("ended"))))
        self.release(peer)

    def test_channel_a_bind_that_does_not_fit_its_spec_runs_nothing(self):
        peer = self.started_peer()
        text = json.dumps(shell("echo evil")).encode()
        peer.put("spec", text)
        peer.send("bind", attempt="att_a", spec_bytes=len(text), spec_crc=wire.crc32c(text) ^ 1)
        self.wait_ended(peer, exit=peer.said("ended")[0]["exit"] if peer.said("ended") else None, cause="runner_protocol_error")
        self.assertEqual(([], b""), (peer.said("started"), peer.output()))
        self.release(peer)

    # --- resume ---
    def test_channel_output_goes_on_exactly_after_lost_acknowledgements(self):
        wanted = b"".join(b"%d\n" % i for i in range(1, 200001))
        first = self.started_peer()
        first.acknowledges = False
        first.bind("att_a", shell("seq 1 200000; printf end >&2"))
        first.until(lambda: len(first.messages) > 12, what="some output")
        first.carrier.close()
        for epoch, got in ((2, 7), (3, 12)):
            first.open(self.carrier(), epoch, got=got)
            if epoch == 2:
                first.until(lambda: len(first.messages) > 20, what="more output")
                first.carrier.close()
        first.acknowledges = True
        ended = self.wait_ended(first)
        self.assertTrue(first.output() == wanted, "stdout is not byte-identical")
        self.assertEqual((b"end", len(wanted), 3, 0), (first.output(2), ended["out_bytes"], ended["err_bytes"], ended["dropped"]))
        self.assertEqual(list(range(1, len(first.messages) + 1)), [m[0] for m in first.messages])
        self.release(first)

    def test_channel_a_full_spool_holds_the_writer_and_drops_nothing(self):
        size = 2 << 20
        peer = self.started_peer()
        peer.acknowledges = False
        peer.bind("att_a", shell(f"yes 0123456789abcde | head -c {size}; touch behind", spool_bytes=256 * KIB))
        peer.until(lambda: [b for m, b in peer.plain if m == "usage" and b["usage"]["stalled_ms"] > 0], what="a stall")
        held = len(peer.output())
        self.assertLess(held, 256 * KIB)
        body, _, _ = peer.request("files.list", patterns=["behind"], after="", limit=10)
        self.assertEqual([], body["files"])  # the writer stands where it was
        self.assertEqual(held, len(peer.output()))
        peer.acknowledges = True
        peer.acknowledge()
        ended = self.wait_ended(peer)
        self.assertTrue(peer.output() == b"0123456789abcde\n" * (size // 16), "the output is not byte-identical")
        self.assertEqual((size, 0), (ended["out_bytes"], ended["dropped"]))
        self.assertGreater(ended["usage"]["stalled_ms"], 0)
        body, _, _ = peer.request("files.list", patterns=["behind"], after="", limit=10)
        self.assertEqual(["behind"], [f["path"] for f in body["files"]])
        self.release(peer)

    # --- the end ---
    def test_channel_release_while_parked_ends_with_code_0(self):
        peer = self.started_peer()
        self.release(peer)

    def test_channel_without_a_word_for_the_lease_the_task_is_stopped(self):
        peer = self.started_peer()
        peer.acknowledges = False
        peer.bind("att_a", shell("trap '' TERM; sleep 100000 & echo up; while :; do sleep 1; done", lease_ms=3000))
        peer.until(lambda: peer.output() == b"up\n", what="the task")
        poll_until(lambda: peer.carrier.lines() is not None and peer.carrier.ended, 60, "the end")  # read on, and nothing is said
        self.assertNotEqual(0, self.exit_code())


class Foreigners(ServerTest):
    """Somebody else attaches to a container of ours and never reads."""

    def test_channel_a_foreign_unread_attach_does_not_keep_a_task_from_its_end(self):
        task = self.server.submit("trap '' TERM; echo up; yes", timeouts={"stop": "1s"}, limits={"log": "2Gi", "memory": "64Mi"})
        poll_until(lambda: self.server.logs(task)[:3] == b"up\n", 60, "the task's output")
        foreign = Carrier(self.engine.path, self.server.sandbox_of(task))
        self.addCleanup(foreign.close)
        stuck = self.log_size(task)
        poll_until(lambda: self.log_stands_still(task), 120, "the flood held up by the foreign attach")
        self.assertGreaterEqual(self.log_size(task), stuck)
        self.server.cancel(task)
        shown = self.server.wait(task, 180)
        self.assertEqual(("cancelled", "cancelled_by_user"), (shown["state"], shown["reason"]))
        self.assertEqual("succeeded", self.server.run("true", limits={"memory": "64Mi"})["state"])  # the others go on
        foreign.close()
        self.server.wait_gone(task, 180)

    def log_size(self, task):
        return sum(p.stat().st_size for p in self.server.data.rglob("*") if p.is_file() and task in str(p))

    def log_stands_still(self, task):
        """No new byte over many looks in a row: with a reader missing the engine takes no more."""
        seen = {self.log_size(task)}
        for _ in range(25):
            threading.Event().wait(0.02)
            seen.add(self.log_size(task))
        return len(seen) == 1


class LyingRunner(ServerTest):
    """K10: a runner that is not what it should be never gets a task."""

    LIES = {"honest": 16, "wrong nonce": 17, "wrong epoch": 18, "other protocol": 19, "not parked": 20, "no hello": 21,
            "noise": 22, "line without end": 23, "bad CRC": 24}
    UNCONFINED = {"root": 25, "capable": 26, "without a filter": 27, "dumpable": 28, "with a network": 29}

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="mayfly-fake-")
        cls.addClassCleanup(scratch.cleanup)
        fake = pathlib.Path(scratch.name) / "fake-runner"
        source = pathlib.Path(__file__).resolve().parent / "fake_runner.c"
        subprocess.run(["gcc", "-static", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(fake), str(source)], check=True)
        with open(fake, "ab") as out:
            out.write(os.urandom(16))  # a volume of its own
        cls.addClassCleanup(Engine().request, "DELETE", f"/volumes/mayfly-runner-{sha256(fake.read_bytes())[:32]}?force=1")
        cls.arguments = ("--runner", str(fake))
        super().setUpClass()

    def bind_intent(self, task):
        with contextlib.closing(sqlite3.connect(f"file:{self.server.data}/tasks.db?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT a.body FROM attempts a JOIN tasks t ON a.task = t.n WHERE t.id = ?", (task,)).fetchall()
        self.assertGreater(len(rows), 0)
        return any(json.loads(row[0])["bind_intent"] for row in rows)

    def submit_all(self, sizes):
        return {lie: self.server.submit("true", limits={"workspace": f"{size}Mi", "memory": "32Mi"}, timeouts={"start": "15s"})
                for lie, size in sizes.items()}

    def test_K10_a_runner_that_lies_is_never_bound(self):
        before = self.server.memory_kib("VmHWM")
        for lie, task in self.submit_all(self.LIES).items():
            shown = self.server.wait_gone(task, 180)
            self.assertNotEqual("succeeded", shown["state"], lie)
            self.assertEqual(lie == "honest", self.bind_intent(task), (lie, shown["reason"], shown["message"]))
            self.assertIsNone(shown["times"]["bound"], lie)
            self.assertIn(shown["reason"], {"runner_lost", "runner_protocol_error", "start_timeout"}, lie)
        if not sanitized():  # AddressSanitizer keeps what was freed
            self.assertLess(self.server.memory_kib("VmHWM") - before, 64 * KIB)

    def test_K10_C01_a_runner_that_sees_itself_unconfined_is_never_bound(self):
        for lie, task in self.submit_all(self.UNCONFINED).items():
            shown = self.server.wait_gone(task, 180)
            self.assertEqual(("failed", "runtime_untrusted"), (shown["state"], shown["reason"]), (lie, shown["message"]))
            self.assertFalse(self.bind_intent(task), lie)


if __name__ == "__main__":
    unittest.main()

"""What the integration tests stand on: a server of their own, its API over the Unix socket, and the engine beside it.

A test file is a unittest module; each class starts one server (setUpClass) and ends it. Every exchange with the API is
written to the recording named by MAYFLY_RECORDING, which openapi_check.py validates against docs/openapi.json.
"""

import base64
import contextlib
import hashlib
import http.client
import json
import mmap
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("MAYFLY_BIN_DIR", TOP / "build" / "dev" / "bin"))
IMAGE = "mayfly-test/busybox:1"
FULL = os.environ.get("MAYFLY_FULL") == "1"
RECORDING = os.environ.get("MAYFLY_RECORDING")
if RECORDING:
    pathlib.Path(RECORDING).write_bytes(b"")  # of this run alone
ENDED = {"succeeded", "failed", "cancelled", "timed_out", "rejected", "lost"}


def count(full):
    """A large count: a tenth of it in CI, all of it with MAYFLY_FULL=1."""
    return full if FULL else max(1, full // 10)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.unix_path = str(path)

    def connect(self):
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.settimeout(self.timeout)
        try:
            opened.connect(self.unix_path)
        except OSError:
            opened.close()
            raise
        self.sock = opened

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def sanitized():
    """Whether the server under test was built with AddressSanitizer: its memory is then no figure."""
    with open(BIN / "mayfly", "rb") as binary, mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.find(b"__asan_init") >= 0


def poll_until(condition, seconds=60, what="condition"):
    """The condition's first true value; fails after the cap."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


class Engine:
    """The container engine itself, over its own socket."""

    def __init__(self):
        host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        self.path = host.removeprefix("unix://")

    def request(self, method, path, body=None, timeout=60):
        connection = UnixConnection(self.path, timeout)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def exec(self, container, *command, seconds=60):
        """Runs a command beside the task; its exit code. A code that is not known yet (null) is waited for."""
        made = self.json("POST", f"/containers/{container}/exec", {"Cmd": list(command)})["Id"]
        self.json("POST", f"/exec/{made}/start", {"Detach": True})
        def ended():
            seen = self.json("GET", f"/exec/{made}/json")
            return seen if not seen["Running"] and seen["ExitCode"] is not None else None
        return poll_until(ended, seconds, f"the end of {command}")["ExitCode"]

    def import_image(self, name, tar, *changes):
        """An image from the tar of a root file system, with Dockerfile lines such as ENTRYPOINT."""
        repo, tag = name.split(":")
        query = urllib.parse.urlencode([("fromSrc", "-"), ("repo", repo), ("tag", tag), *(("changes", c) for c in changes)])
        connection = UnixConnection(self.path, 120)
        connection.request("POST", f"/images/create?{query}", tar, {"Content-Type": "application/x-tar"})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status != 200 or b"error" in data:
            raise AssertionError(f"engine: importing {name}: {answer.status} {data[:300]!r}")

    def remove_image(self, name):
        self.request("DELETE", f"/images/{name}?force=true")

    def json(self, method, path, body=None):
        status, data = self.request(method, path, body)
        if status >= 400:
            raise AssertionError(f"engine: {method} {path}: {status} {data[:300]!r}")
        return json.loads(data) if data else None

    def sandboxes(self):
        label = urllib.parse.quote(json.dumps({"label": ["dev.mayfly.sandbox"]}))
        return self.json("GET", f"/containers/json?all=1&filters={label}")

    def volumes(self):
        label = urllib.parse.quote(json.dumps({"label": ["dev.mayfly.sandbox"]}))
        return self.json("GET", f"/volumes?filters={label}")["Volumes"] or []


class Server:
    """One `mayfly serve` with a data directory of its own."""

    def __init__(self, *arguments, policy=None, env=None, under=()):
        """`under`: the words of a program that runs the server (prlimit)."""
        self.under = list(under)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="mayfly-it-"))
        self.data = self.dir / "data"
        self.socket = self.dir / "mayfly.sock"
        self.log_file = self.dir / "serve.log"
        self.arguments = list(arguments)
        self.env = env
        if policy is not None:
            (self.dir / "policy.yaml").write_text(policy)
            self.arguments += ["--policy", str(self.dir / "policy.yaml")]
        self.process = None

    def start(self, ready="/readyz"):
        """Ends when the server says 200 at `ready`."""
        command = [*self.under, str(BIN / "mayfly"), "serve", "--data-dir", str(self.data), "--socket", str(self.socket), "--log-format",
                   "json", *self.arguments]
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **(self.env or {})})
        poll_until(lambda: self._answers(ready), 60, "the server's readiness")
        return self

    def _answers(self, path):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.log()}")
        try:
            return self.raw("GET", path)[0] == 200
        except OSError:
            return False

    def log(self):
        return self.log_file.read_text(errors="replace")[-4000:]

    def stop(self, sig=signal.SIGTERM, seconds=60):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(sig)
            self.process.wait(seconds)
        return self.process.returncode if self.process else None

    def close(self):
        try:
            self.stop()
        finally:
            if self.process is not None and self.process.poll() is None:
                self.process.kill()
            shutil.rmtree(self.dir, ignore_errors=True)

    # --- the API ---
    def connection(self, timeout=60):
        return UnixConnection(self.socket, timeout)

    def raw(self, method, path, body=None, headers=None, timeout=60):
        """(status, headers, body) of one exchange, recorded for the check against the OpenAPI description."""
        connection = self.connection(timeout)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        record(method, path, body, headers or {}, answer, data)
        return answer.status, dict(answer.getheaders()), data

    def call(self, method, path, body=None, headers=None, expect=None, timeout=60):
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        status, _, data = self.raw(method, path, body, headers, timeout)
        if expect is not None and status != expect:
            raise AssertionError(f"{method} {path}: {status} instead of {expect}: {data[:600]!r}\n{self.log()}")
        return json.loads(data) if data else None

    def submit(self, command=None, **spec):
        body = {"kind": "command", "image": IMAGE, **spec}
        if command is not None:
            body["command"] = command if isinstance(command, list) else ["/bin/sh", "-c", command]
        return self.call("POST", "/v1/tasks", body, expect=201)["id"]

    def show(self, task):
        return self.call("GET", f"/v1/tasks/{task}", expect=200)

    def peek(self, task):
        """The task, asked for again and again and therefore not recorded."""
        connection = self.connection(60)
        connection.request("GET", f"/v1/tasks/{task}")
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status != 200:
            raise AssertionError(f"{task}: {answer.status} {data[:300]!r}")
        return json.loads(data)

    def wait(self, task, seconds=120):
        """The task when it has ended (its sandbox may still be going)."""
        poll_until(lambda: self.peek(task)["state"] in ENDED, seconds, f"the end of {task}")
        return self.show(task)

    def wait_gone(self, task, seconds=120):
        """The task when it has ended and nothing of its sandbox is left."""
        def gone():
            shown = self.peek(task)
            return shown["state"] in ENDED and not shown["cleanup_pending"]
        poll_until(gone, seconds, f"the clean-up of {task}")
        return self.show(task)

    def wait_state(self, task, *states, seconds=60):
        return poll_until(lambda: (lambda t: t if t["state"] in states else None)(self.peek(task)), seconds, f"{task} in {states}")

    def run(self, command=None, seconds=120, **spec):
        return self.wait(self.submit(command, **spec), seconds)

    def run_all(self, commands, seconds=300, **spec):
        """Submits all at once; the tasks in that order when all have ended."""
        return [self.wait(task, seconds) for task in [self.submit(c, **spec) for c in commands]]

    def cancel(self, task):
        return self.call("POST", f"/v1/tasks/{task}/cancel", expect=200)

    def refuse(self, spec, headers=None):
        """(status, problem) of a submit that must not be accepted."""
        status, _, data = self.raw("POST", "/v1/tasks", json.dumps(spec), {"Content-Type": "application/json", **(headers or {})})
        if status < 400:
            raise AssertionError(f"accepted: {spec!r}"[:600])
        return status, json.loads(data)

    def metric(self, line):
        """The value of one line of /metrics, as `name` or `name{label="value"}`; 0 when it is not there yet."""
        for row in self.raw("GET", "/metrics")[2].decode().splitlines():
            name, _, value = row.rpartition(" ")
            if name == line:
                return float(value)
        return 0.0

    def logs(self, task, stream="stdout"):
        status, _, data = self.raw("GET", f"/v1/tasks/{task}/logs?stream={stream}")
        if status != 200:
            raise AssertionError(f"logs: {status} {data[:300]!r}")
        return data

    def log_records(self, task, follow=False):
        path = f"/v1/tasks/{task}/logs?stream=both" + ("&follow=true" if follow else "")
        _, _, data = self.raw("GET", path, headers={"Accept": "application/x-ndjson"}, timeout=300)
        return [json.loads(line) for line in data.splitlines() if line]

    def events(self, task):
        _, _, data = self.raw("GET", f"/v1/tasks/{task}/events", headers={"Accept": "application/x-ndjson"}, timeout=300)
        return [json.loads(line) for line in data.splitlines() if line]

    def stream_events(self, task, last_event_id=None):
        """Server-sent events as they come: (id, type, data) of each. Closing the generator drops the connection."""
        headers = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        connection = self.connection(300)
        try:
            connection.request("GET", f"/v1/tasks/{task}/events", headers=headers)
            answer = connection.getresponse()
            if answer.status == 204:
                return
            if answer.status != 200:
                raise AssertionError(f"events: {answer.status} {answer.read()[:300]!r}")
            fields = {}
            for line in iter(answer.readline, b""):
                line = line.rstrip(b"\n").decode()
                if line and not line.startswith(":"):
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                elif not line and "data" in fields:
                    yield int(fields["id"]), fields["event"], json.loads(fields["data"])
                    fields = {}
        finally:
            connection.close()

    def artifacts(self, task):
        return {a["path"]: a for a in self.call("GET", f"/v1/tasks/{task}/artifacts", expect=200)["items"]}

    def artifact(self, task, path):
        status, _, data = self.raw("GET", f"/v1/tasks/{task}/artifacts/{urllib.parse.quote(path)}")
        if status != 200:
            raise AssertionError(f"artifact {path}: {status} {data[:300]!r}")
        return data

    def sandbox_of(self, task):
        """The name of the engine's container of a task's latest attempt, from the store: the API does not show it."""
        def find():
            with contextlib.closing(sqlite3.connect(f"file:{self.data}/tasks.db?mode=ro", uri=True)) as db:
                row = db.execute("SELECT a.sandbox FROM attempts a JOIN tasks t ON a.task = t.n WHERE t.id = ?"
                                 " ORDER BY a.number DESC LIMIT 1", (task,)).fetchone()
            return "mayfly-" + row[0] if row else None
        return poll_until(find, 30, f"the sandbox of {task}")

    def installation(self):
        return (self.data / "installation").read_text().split("\n")[0]

    def memory_kib(self, field="VmRSS"):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        return 0

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def mayfly(self, *arguments, input=None, timeout=120, env=None):
        """The command line against this server."""
        return subprocess.run([str(BIN / "mayfly"), *arguments], input=input, capture_output=True, timeout=timeout,
                              env={**os.environ, "MAYFLY_SERVER": str(self.socket), **(env or {})})


def record(method, path, request_body, request_headers, answer, data):
    if not RECORDING:
        return
    content_type = answer.getheader("Content-Type") or ""
    exchange = {"method": method, "path": path, "status": answer.status, "content_type": content_type, "response_body": ""}
    if "json" in content_type and len(data) >= 1 << 20:
        return  # too long to be kept; the short ones are of the same kind
    if "json" in content_type:
        exchange["response_body"] = data.decode("utf-8", "replace")
    sent_type = {k.lower(): v for k, v in request_headers.items()}.get("content-type", "")
    if request_body is not None and "json" in sent_type:
        exchange["request_body"] = request_body if isinstance(request_body, str) else request_body.decode("utf-8", "replace")
    with open(RECORDING, "a", encoding="utf-8") as out:
        out.write(json.dumps(exchange) + "\n")


class ServerTest(unittest.TestCase):
    """A test class with one server; after it nothing of that server may be left on the engine."""

    arguments = ()
    policy = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments, policy=cls.policy)
        cls.addClassCleanup(cls.server.close)
        cls.engine = Engine()
        cls.addClassCleanup(cls.sweep)
        cls.server.start()

    @classmethod
    def left_over(cls):
        """Names of what the engine still has of this server."""
        ours = cls.server.installation()
        return [o.get("Names", [o.get("Name")])[0].removeprefix("/") for o in cls.engine.sandboxes() + cls.engine.volumes()
                if (o["Labels"] or {}).get("dev.mayfly.installation") == ours]

    @classmethod
    def tearDownClass(cls):
        poll_until(lambda: not cls.left_over(), 60, f"nothing left on the engine (now {cls.left_over()})")

    @classmethod
    def sweep(cls):
        """After the verdict: a failed test leaves nothing for the others either."""
        if not (cls.server.data / "installation").exists():
            return
        for name in cls.left_over():
            kind = "volumes" if name.endswith("-ws") else "containers"
            cls.engine.request("DELETE", f"/{kind}/{name}?force=true")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def b64(data):
    return base64.b64encode(data).decode()


if __name__ == "__main__":
    raise SystemExit("run a test file, not the harness")

#!/usr/bin/env python3
"""The client's side of scripts/show.sh: speaks to a server over its Unix socket, with Python's own library alone.

usage: show.py exits SOCKET COUNT PARALLEL SEED     prints: wrong codes, missing tails
       show.py big SOCKET SERVER_PID ENGINE_SOCKET DIRECTORY
"""

import concurrent.futures
import datetime
import hashlib
import http.client
import json
import os
import random
import socket
import statistics
import sys
import time

BLOCK = 1 << 20
BLOCKS = 1024
ROUNDS = 5
SEED = 20260101

# What the sandbox runs: 1 GiB of every byte value. Each block is numbered, so that none can stand for another.
WRITE_BLOCKS = f"""\
import os, random
block = bytearray(random.Random({SEED}).randbytes({BLOCK}))
for number in range({BLOCKS}):
    block[:8] = number.to_bytes(8, "little")
    view = memoryview(block)
    while view:
        view = view[os.write(1, view):]
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=600):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Api:
    """One connection; one thread."""

    def __init__(self, path):
        self._connection = UnixConnection(path)

    def open(self, method, path, body=None, headers=None):
        self._connection.request(method, path, body, headers or {})
        answer = self._connection.getresponse()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.read(2000)!r}")
        return answer

    def read(self, path):
        return self.open("GET", path).read()

    def task(self, task_id):
        return json.loads(self.read(f"/v1/tasks/{task_id}"))

    def run(self, spec):
        """Submits, waits until the task has ended and its sandbox is gone, and returns the task."""
        body = json.dumps({"kind": "command", **spec})
        task_id = json.loads(self.open("POST", "/v1/tasks", body, {"Content-Type": "application/json"}).read())["id"]
        events = self.open("GET", f"/v1/tasks/{task_id}/events", headers={"Accept": "application/x-ndjson"})
        for _ in events:
            pass
        return self.task(task_id)


def run_exit(path, number, code):
    """(is the code wrong, is a tail missing) of one task."""
    api = Api(path)
    script = f"echo 'a line of {number}'\nprintf 'the tail of {number}' >&2\nexit {code}\n"
    limits = {"cpus": 0.5, "memory": "16Mi", "workspace": "1Mi", "tmp": "4Mi", "shm": "64Ki", "pids": 16}
    task = api.run({"image": "mayfly-test/busybox:1", "script": script, "limits": limits})
    out = api.read(f"/v1/tasks/{task['id']}/logs?stream=stdout")
    err = api.read(f"/v1/tasks/{task['id']}/logs?stream=stderr")
    state = "failed" if code else "succeeded"
    wrong = (task["state"], task["exit_code"]) != (state, code)
    missing = out != f"a line of {number}\n".encode() or err != f"the tail of {number}".encode()
    if wrong or missing:
        told = {key: task[key] for key in ("id", "state", "reason", "exit_code", "signal", "message")}
        print(f"exit {code}: {json.dumps(told)}, stdout {out!r}, stderr {err!r}", file=sys.stderr)
    return wrong, missing


def show_exits(path, count, parallel, seed):
    codes = random.Random(seed)
    jobs = [(number, codes.randrange(256)) for number in range(count)]
    started, wrong, missing, done = time.monotonic(), 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        for is_wrong, is_missing in pool.map(lambda job: run_exit(path, *job), jobs):
            wrong, missing, done = wrong + is_wrong, missing + is_missing, done + 1
            if done % max(1, count // 10) == 0:
                print(f"   {done} of {count}, {done / (time.monotonic() - started):.1f} a second", file=sys.stderr)
    print(wrong, missing)


def expected_digest():
    block, digest = bytearray(random.Random(SEED).randbytes(BLOCK)), hashlib.sha256()
    for number in range(BLOCKS):
        block[:8] = number.to_bytes(8, "little")
        digest.update(block)
    return digest.hexdigest()


def peak_memory_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def reset_peak_memory(pid):
    """The peak begins anew at what is resident now (proc(5), clear_refs): a start's own peak must not hide a task's."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")


def ask_engine(engine, method, path, body=None):
    connection = UnixConnection(engine)
    connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"engine: {method} {path}: {answer.status} {text!r}")
    return json.loads(text) if text else None


def attach(engine, container):
    """The engine's attach stream of standard output, raw, once it has answered."""
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(120)
    stream.connect(engine)
    stream.sendall(f"POST /containers/{container}/attach?stream=1&stdout=1 HTTP/1.1\r\nHost: engine\r\n"
                   "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += stream.recv(1)
    if b" 101 " not in head.split(b"\r\n")[0]:
        raise RuntimeError(f"engine: attach: {head!r}")
    return stream


def copy_attach(stream, path):
    """Frames and all to a file; MB of them a second, from the first byte to the end."""
    buffer, total, first = bytearray(1 << 18), 0, None
    with open(path, "wb", buffering=0) as file:
        while got := stream.recv_into(buffer):
            first = first or time.monotonic()
            file.write(memoryview(buffer)[:got])
            total += got
    if total < BLOCK * BLOCKS:
        raise RuntimeError(f"the raw attach ended after {total} bytes")
    return total / 1e6 / (time.monotonic() - first)


def raw_speed(engine, directory):
    """The same program in a container of the same size, its output taken straight from the engine's attach to a file."""
    container = ask_engine(engine, "POST", "/containers/create", {
        "Image": "mayfly/runtime:1", "Cmd": ["python3", "-c", WRITE_BLOCKS], "AttachStdout": True,
        "HostConfig": {"NetworkMode": "none", "LogConfig": {"Type": "none"}, "NanoCpus": 2_000_000_000,
                       "Memory": 256 << 20, "MemorySwap": 256 << 20, "PidsLimit": 64}})["Id"]
    try:
        with attach(engine, container) as stream:
            ask_engine(engine, "POST", f"/containers/{container}/start")
            return copy_attach(stream, os.path.join(directory, "raw"))
    finally:
        ask_engine(engine, "DELETE", f"/containers/{container}?force=1&v=1")
        os.unlink(os.path.join(directory, "raw"))


def seconds_between(begin, end):
    begin, end = (datetime.datetime.fromisoformat(time_.replace("Z", "+00:00")) for time_ in (begin, end))
    return (end - begin).total_seconds()


def speed_of(api, image):
    """One task that writes the blocks: (MB a second from first output to end, are its bytes whole)."""
    task = api.run({**image, "command": ["python3", "write.py"], "inputs": [{"path": "write.py", "content": WRITE_BLOCKS}],
                    "limits": {"cpus": 2, "memory": "128Mi", "log": "2Gi"}})
    digest, size = hashlib.sha256(), 0
    answer = api.open("GET", f"/v1/tasks/{task['id']}/logs?stream=stdout")
    while piece := answer.read(1 << 20):
        digest.update(piece)
        size += len(piece)
    same = digest.hexdigest() == expected_digest()
    print(f"{task['state']}, {size} bytes, SHA-256 {'equal' if same else 'DIFFERENT'}")
    speed = BLOCK * BLOCKS / 1e6 / max(0.001, seconds_between(task["times"]["first_output"], task["times"]["ended"]))
    return speed, same and task["state"] == "succeeded"


def show_big(path, pid, engine, directory):
    api = Api(path)
    image = {"image": "mayfly/runtime:1"}
    api.run({**image, "command": ["true"]})  # what the first task of a server costs is not what its output costs
    reset_peak_memory(pid)
    before, ratios, all_whole = peak_memory_kib(pid), [], True
    for _ in range(ROUNDS):
        os.sync()  # neither writes against the other's dirty pages
        raw = raw_speed(engine, directory)
        os.sync()
        speed, whole = speed_of(api, image)
        all_whole = all_whole and whole
        ratios.append(speed / raw)
        print(f"container to disk {speed:.0f} MB/s, raw attach {raw:.0f} MB/s, ratio {speed / raw:.2f}")
    growth = (peak_memory_kib(pid) - before) / 1024
    ratio = statistics.median(ratios)
    print(f"peak memory of serve grew by {growth:.1f} MiB (at most 32)")
    print(f"median ratio of {ROUNDS} pairs {ratio:.2f} (at least 0.75)")
    return all_whole and growth < 32 and ratio >= 0.75


def main():
    match sys.argv[1:]:
        case ["exits", path, count, parallel, seed]:
            show_exits(path, int(count), int(parallel), int(seed))
        case ["big", path, pid, engine, directory]:
            sys.exit(0 if show_big(path, int(pid), engine, directory) else 1)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()

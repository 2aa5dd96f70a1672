"""Speed and size of the spine, each figure beside a peer measured in the same run. Prints; asserts nothing.

  cold    `true` from submit to its verdict, and until its sandbox is gone, against `docker run --rm` with the same
          limits, in turn A B A B
  output  1 GiB from a container to disk, against a raw attach of the same program that only reads
  sizes   the runner before bind, the server idle and after the output
"""

import hashlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from harness import BIN, IMAGE, Engine, Server, UnixConnection, poll_until  # noqa: E402

ROUNDS = int(os.environ.get("MAYFLY_BENCH_ROUNDS", "20"))
OUTPUT_BYTES = int(os.environ.get("MAYFLY_BENCH_BYTES", str(1 << 30)))
POLICY = """
apiVersion: mayfly.dev/v1
kind: Policy
spec:
  defaults: {limits: {cpus: 2, memory: 256Mi, workspace: 16Mi, tmp: 16Mi, shm: 16Mi}}
  ceilings: {limits: {log: 2Gi}}
"""


def cold(server):
    ended, gone, theirs = [], [], []
    for _ in range(ROUNDS):
        begun = time.monotonic()
        shown = server.call("POST", "/v1/tasks", {"kind": "command", "image": IMAGE, "command": ["/bin/true"]}, expect=201)
        for _, kind, _ in server.stream_events(shown["id"]):  # ends when the sandbox is gone
            if kind == "task.ended":
                ended.append(time.monotonic() - begun)
        gone.append(time.monotonic() - begun)
        granted = shown["granted"]
        begun = time.monotonic()
        subprocess.run(["docker", "run", "--rm", "--network", "none", "--memory", str(granted["memory"]), "--memory-swap",
                        str(granted["memory"]), "--cpus", str(granted["cpus"]), "--pids-limit", str(granted["pids"]), "--read-only",
                        "--cap-drop", "ALL", "--tmpfs", "/tmp", IMAGE, "/bin/true"], check=True, capture_output=True)
        theirs.append(time.monotonic() - begun)
    print(f"cold: docker run --rm {statistics.median(theirs) * 1000:.0f} ms; mayfly (medians of {ROUNDS} pairs)")
    for name, times in (("submit to end", ended), ("submit to gone", gone)):
        ratio = statistics.median(a / b for a, b in zip(times, theirs))
        print(f"  {name} {statistics.median(times) * 1000:.0f} ms, ratio {ratio:.2f}")


def attach_speed():
    """Reads what the same program writes through a bare attach of the engine; bytes a second."""
    engine = Engine()
    made = engine.json("POST", "/containers/create", {
        "Image": IMAGE, "Cmd": ["head", "-c", str(OUTPUT_BYTES), "/dev/zero"], "AttachStdout": True,
        "HostConfig": {"NetworkMode": "none", "LogConfig": {"Type": "none"}, "NanoCpus": 2_000_000_000}})
    name = made["Id"]
    connection = UnixConnection(engine.path, 60)
    connection.connect()
    sock: socket.socket = connection.sock
    sock.sendall(f"POST /containers/{name}/attach?stream=1&stdout=1 HTTP/1.1\r\nHost: engine\r\nUpgrade: tcp\r\n"
                 "Connection: Upgrade\r\nContent-Length: 0\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += sock.recv(1)
    engine.request("POST", f"/containers/{name}/start")
    begun, total, buffer = time.monotonic(), 0, bytearray(256 * 1024)
    while got := sock.recv_into(buffer):
        total += got
    took = time.monotonic() - begun
    sock.close()
    engine.request("DELETE", f"/containers/{name}?force=1&v=1")
    return OUTPUT_BYTES / took, total


def output(server):
    raw, _ = attach_speed()
    before = server.memory_kib("VmHWM")
    task = server.submit(["head", "-c", str(OUTPUT_BYTES), "/dev/zero"], limits={"log": OUTPUT_BYTES + (1 << 20)})
    shown = server.wait(task, 600)
    phases = shown["phases"]
    ours = OUTPUT_BYTES / (phases["run_ms"] / 1000)
    grown = server.memory_kib("VmHWM") - before
    digest, want = hashlib.sha256(), hashlib.sha256()
    connection = server.connection(600)
    connection.request("GET", f"/v1/tasks/{task}/logs?stream=stdout")
    answer = connection.getresponse()
    while piece := answer.read(1 << 20):
        digest.update(piece)
    connection.close()
    block = bytes(1 << 20)
    for _ in range(OUTPUT_BYTES >> 20):
        want.update(block)
    same = "equal" if digest.hexdigest() == want.hexdigest() else "DIFFERENT"
    print(f"output: mayfly {ours / 1e6:.0f} MB/s to disk, raw attach {raw / 1e6:.0f} MB/s, ratio {ours / raw:.2f}; "
          f"SHA-256 {same}; state {shown['state']}; the server's VmHWM grew by {grown} KiB")


def sizes(server, idle_kib):
    with tempfile.TemporaryDirectory() as scratch:
        runner = subprocess.Popen([str(BIN / "mayfly-runner"), "--workspace", scratch, "--scratch", scratch],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        poll_until(lambda: "VmRSS" in status(runner.pid), 10, "the runner's status")
        time.sleep(0.5)
        rss = [line for line in status(runner.pid).splitlines() if line.startswith("VmRSS")][0].split()[1]
        runner.kill()
        runner.wait()
    size = (BIN / "mayfly-runner").stat().st_size
    print(f"sizes: runner {size} bytes on disk, RSS {rss} KiB parked; server RSS {idle_kib} KiB idle")


def status(pid):
    return pathlib.Path(f"/proc/{pid}/status").read_text()


def main():
    server = Server(policy=POLICY)
    try:
        server.start()
        idle = server.memory_kib()
        sizes(server, idle)
        cold(server)
        output(server)
    finally:
        server.close()


if __name__ == "__main__":
    main()

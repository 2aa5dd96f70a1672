"""The programs of probes/ as an input of a task, and what they print."""

import functools
import pathlib
import subprocess
import sys
import tempfile

import harness

sys.path.append(str(harness.TOP / "tests" / "support"))

SOURCES = pathlib.Path(__file__).resolve().parent / "probes"


@functools.cache
def binary():
    with tempfile.TemporaryDirectory(prefix="mayfly-probe-") as scratch:
        out = pathlib.Path(scratch) / "probe"
        sources = [str(s) for s in sorted(SOURCES.glob("*.c"))]
        subprocess.run(["gcc", "-static", "-O1", "-s", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", str(out), *sources],
                       check=True)
        return out.read_bytes()


def as_input():
    return {"path": "probe", "content_base64": harness.b64(binary()), "mode": "0755"}


def run(server, shell, **spec):
    """Runs shell code that uses ./probe; the ended task and its stdout as text."""
    task = server.submit(shell, inputs=[as_input()], **spec)
    return server.wait(task), server.logs(task).decode("utf-8", "replace")


def outcomes(text):
    """Lines "name result" as a dictionary; a name may hold spaces."""
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if " " in line)

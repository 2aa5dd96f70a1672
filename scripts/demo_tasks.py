#!/usr/bin/env python3
"""Writes the task files of scripts/demo.sh.

usage: demo_tasks.py DIRECTORY

Real input: the license and copyright texts that Debian installs, each text once, shared out to at least 24 tasks which
count the words of each file. Writes DIRECTORY/tasks/*.json, and the paths of the texts to DIRECTORY/texts.list.
"""

import base64
import glob
import hashlib
import json
import pathlib
import sys

LEAST_TASKS = 24
MOST_FILES = 200  # a task takes 256 inputs
MOST_BYTES = 900_000  # a task takes 1 MiB of inline inputs

# Runs in the sandbox. A word is what `wc -w` calls one in the C locale: bytes between white space, one of them printable.
COUNT = '''\
import json, os, re, time
printable, counts = re.compile(rb"[!-~]"), {}
for folder, _, names in sorted(os.walk("texts")):
    for name in sorted(names):
        path = os.path.join(folder, name)
        with open(path, "rb") as text:
            words = sum(1 for word in text.read().split() if printable.search(word))
        counts[path[len("texts"):]] = words
        print(f"{words:8} {path[len('texts'):]}", flush=True)
        time.sleep(float(os.environ.get("PAUSE", "0")))
os.makedirs("out", exist_ok=True)
with open("out/counts.json", "w") as result:
    json.dump(counts, result)
'''

LIMITS = {"cpus": 0.5, "memory": "64Mi", "workspace": "16Mi", "tmp": "4Mi", "shm": "64Ki", "pids": 16}
MISBEHAVING = [
    {
        "name": "fails-on-purpose",
        "script": "echo 'this one fails on purpose' >&2\nexit 3\n",
        "limits": LIMITS,
    },
    {
        "name": "over-its-memory",
        "command": ["python3", "-c", "print('asking for 256 MiB', flush=True); held = b'x' * (256 << 20)"],
        "limits": {**LIMITS, "memory": "32Mi"},
    },
    {
        "name": "over-its-time",
        "script": "echo 'this one never ends'\nwhile :; do sleep 1; done\n",
        "limits": LIMITS,
        "timeouts": {"run": "3s", "stop": "1s"},
    },
]


def find_texts():
    """Each distinct text once, under the first path that has it."""
    texts = {}
    patterns = ["/usr/share/common-licenses/*", "/usr/share/doc/*/copyright"]
    for path in (pathlib.Path(found) for pattern in patterns for found in sorted(glob.glob(pattern))):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if 0 < len(content) <= MOST_BYTES:
            texts.setdefault(hashlib.sha256(content).digest(), (str(path), content))
    return list(texts.values())


def share_out(texts):
    """The licenses by themselves, the copyright texts in as many shares as they need."""
    licenses = [text for text in texts if text[0].startswith("/usr/share/common-licenses/")]
    shares, share, size = [licenses], [], 0
    rest = texts[len(licenses):]
    # A share ends with the text that reaches the target, so there are fewer of them than the division says.
    target = min(MOST_BYTES, sum(len(content) for _, content in rest) // (LEAST_TASKS * 3 // 2) + 1)
    for path, content in rest:
        if share and (size + len(content) > MOST_BYTES or size >= target or len(share) == MOST_FILES):
            shares.append(share)
            share, size = [], 0
        share.append((path, content))
        size += len(content)
    return shares + ([share] if share else [])


def input_of(path, content):
    try:
        return {"path": "texts" + path, "content": content.decode()}
    except UnicodeDecodeError:
        return {"path": "texts" + path, "content_base64": base64.b64encode(content).decode()}


def counting_task(number, share):
    task = {
        "name": f"words-{number:02}",
        "command": ["python3", "count.py"],
        "inputs": [{"path": "count.py", "content": COUNT}] + [input_of(*text) for text in share],
        "outputs": ["out/counts.json"],
        "limits": LIMITS,
    }
    if number == 1:
        task["env"] = {"PAUSE": "0.2"}  # slow enough for a reader to see that its log streams
    return task


def main():
    directory = pathlib.Path(sys.argv[1])
    texts = find_texts()
    if len(texts) < LEAST_TASKS:
        sys.exit(f"only {len(texts)} license and copyright texts below /usr/share: are they excluded from installation?")
    tasks = [counting_task(number, share) for number, share in enumerate(share_out(texts), 1)] + MISBEHAVING
    (directory / "tasks").mkdir()
    for task in tasks:
        task = {"kind": "command", "image": "mayfly/runtime:1", "labels": {"demo": "words"}, **task}
        (directory / "tasks" / f"{task['name']}.json").write_text(json.dumps(task))
    (directory / "texts.list").write_text("".join(path + "\n" for path, _ in texts))
    print(f"{len(texts)} texts, {sum(len(content) for _, content in texts)} bytes, in {len(tasks)} tasks")


if __name__ == "__main__":
    main()

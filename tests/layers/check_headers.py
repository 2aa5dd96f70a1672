#!/usr/bin/env python3
"""Compiles each header by itself (g++ -fsyntax-only, with the flags of a source of its folder): it must not lean on what its
includer happened to include before.

usage: check_headers.py PROJECT_ROOT BUILD_DIR [HEADER…]

What has compiled is remembered in BUILD_DIR/headers-alone.json, by a digest of the header, of all of ours that it includes, and
of the flags: a second run compiles only what has changed.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

FOLDERS = ("orchestrator", "workspace", "runtime-image")
# Of no meaning here: what a compiler is told about its output, and instrumentation.
DROPPED = re.compile(r"-c$|-M[DPG]?$|-fsanitize=.*|-fno-sanitize.*|-g\d?$|-Winvalid-pch$")
DROPPED_WITH_ARGUMENT = {"-o", "-MF", "-MT", "-MQ", "-include"}


def load_flags(build_dir):
    """The compiler and its flags for each folder, from a source in it."""
    flags = {}
    for entry in json.loads((build_dir / "compile_commands.json").read_text(encoding="utf-8")):
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word in DROPPED_WITH_ARGUMENT:
                next(words)
            elif not DROPPED.fullmatch(word) and word != entry["file"] and not word.endswith("ccache"):
                kept.append(word)
        # A pure library is compiled twice; the flags differ in what does not matter here.
        flags.setdefault(pathlib.Path(entry["file"]).parent, kept)
    return flags


def flags_for(header, flags):
    for folder in header.parents:
        if folder in flags:
            return flags[folder]
    return None


class Contents:
    """Digests of headers with all of ours that they include."""

    def __init__(self, root):
        self._roots = [root / "orchestrator", root]
        self._includes = {}

    def digest(self, header, flags):
        seen, waiting, digest = set(), [header], hashlib.sha256("\0".join(flags).encode())
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            waiting += self._includes_of(path)[1]
        for path in sorted(seen):
            digest.update(self._includes_of(path)[0])
        return digest.hexdigest()

    def _includes_of(self, path):
        if path not in self._includes:
            content = path.read_bytes()
            found = []
            for name in re.findall(rb'^\s*#\s*include\s*"([^"]+)"', content, re.MULTILINE):
                places = [folder / name.decode() for folder in [path.parent, *self._roots]]
                found += [place.resolve() for place in places if place.is_file()][:1]
            self._includes[path] = (content, found)
        return self._includes[path]


def compile_alone(header, flags):
    """The compiler's complaint, or nothing."""
    done = subprocess.run([*flags, "-fsyntax-only", "-x", "c++", "-"], input=f'#include "{header}"\n', text=True,
                          capture_output=True, check=False)
    return None if done.returncode == 0 else done.stderr


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    root, build_dir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    headers = [pathlib.Path(argument).resolve() for argument in sys.argv[3:]] or sorted(
        header for folder in FOLDERS for header in (root / folder).rglob("*.hpp"))
    memory = build_dir / "headers-alone.json"
    known = json.loads(memory.read_text(encoding="utf-8")) if memory.is_file() else {}
    flags, contents, jobs = load_flags(build_dir), Contents(root), {}
    for header in headers:
        header_flags = flags_for(header, flags)
        if header_flags is None:
            sys.exit(f"{header}: no source of its folder is in compile_commands.json")
        digest = contents.digest(header, header_flags)
        if known.get(str(header)) != digest:
            jobs[header] = (header_flags, digest)
    complaints = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda item: (item[0], item[1][1], compile_alone(item[0], item[1][0])), jobs.items())
        for header, digest, complaint in results:
            if complaint is None:
                known[str(header)] = digest
                # Written as it goes: a run that is cut short has not been in vain.
                memory.with_suffix(".new").write_text(json.dumps(known, indent=1), encoding="utf-8")
                memory.with_suffix(".new").replace(memory)
            else:
                complaints.append(f"{header.relative_to(root) if header.is_relative_to(root) else header}:\n{complaint}")
    if complaints:
        sys.exit("\n".join(complaints) + f"\n{len(complaints)} of {len(headers)} headers do not compile alone")
    print(f"{len(headers)} headers compile alone, {len(jobs)} of them compiled now")


if __name__ == "__main__":
    main()

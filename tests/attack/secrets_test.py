"""S01, S02, late binding: what a task is given is found nowhere but in the task, its log and our own store."""

import json
import os
import pathlib
import stat
import time
import unittest
import urllib.parse
import uuid

from harness import IMAGE, ServerTest, b64, poll_until


def make_canaries():
    places = ("command", "env_name", "env_value", "label_name", "label_value", "name", "input_path", "input", "input_binary",
              "script", "stdin", "output", "key", "missing_program", "working_dir", "bad_field", "bad_value")
    return {place: f"canary{place.replace('_', '')}{uuid.uuid4().hex}" for place in places}


class Secrets(ServerTest):
    arguments = ("--log-level", "debug")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.canary = make_canaries()
        cls.since = int(time.time()) - 1

    def common(self):
        canary = self.canary
        return {"image": IMAGE, "name": canary["name"], "env": {canary["env_name"].upper(): canary["env_value"]},
                "labels": {canary["label_name"][:60]: canary["label_value"][:60]}, "stdin": canary["stdin"],
                "inputs": [{"path": canary["input_path"], "content": canary["input"]},
                           {"path": "binary", "content_base64": b64(b"\xff" + canary["input_binary"].encode())}],
                "outputs": [canary["output"]]}

    def submit(self, **spec):
        headers = {"Idempotency-Key": f"{self.canary['key']}-{uuid.uuid4().hex}"}
        return self.server.call("POST", "/v1/tasks", {**self.common(), **spec}, headers, expect=201)["id"]

    def test_S01_S02_late_binding_canaries_are_found_nowhere_outside(self):
        canary = self.canary
        body = (f"cat; echo; cat {canary['input_path']}; echo; cat binary; echo; env; "
                f"cat {canary['input_path']} > {canary['output']}; until [ -e done ]; do sleep 1; done")
        by_command = self.submit(command=["/bin/sh", "-c", f": {canary['command']}; {body}"])
        by_script = self.submit(script=f"# {canary['script']}\ncat $0\n{body}")
        for task in (by_command, by_script):
            poll_until(lambda: canary["env_value"].encode() in self.server.logs(task), 60, "the task's environment in its log")
        for place in ("stdin", "input", "input_binary", "env_value", "script"):  # they have arrived
            self.assertIn(canary[place].encode(), self.server.logs(by_script), place)
        names = [self.server.sandbox_of(task) for task in (by_command, by_script)]
        self.assert_clean(self.engine_knows(names), "while they run")
        for task in (by_command, by_script):
            self.server.cancel(task)
            self.server.wait_gone(task)
            self.assertIn(canary["output"], self.server.artifacts(task))
        self.fail_in_many_ways()
        self.assert_clean(self.engine_knows([]), "when they are gone")
        self.assert_clean(self.ours_shows(), "in what we show")

    # Errors tell most: each of these fails at another place with a canary in its hands.
    def fail_in_many_ways(self):
        canary = self.canary
        for spec in ({"command": ["/no/such/" + canary["missing_program"]]},
                     {"command": ["true"], "working_dir": "/" + canary["working_dir"]},
                     {"command": ["/bin/sh", "-c", f"echo {canary['command']} >&2; exit 3"]}):
            self.assertEqual("failed", self.server.wait_gone(self.submit(**spec))["state"])
        as_json = {"Content-Type": "application/json"}
        bad = {**self.common(), "command": ["true"], canary["bad_field"]: canary["bad_value"],
               "env": {"A=B": canary["bad_value"]}}
        status, _, _ = self.server.raw("POST", "/v1/tasks", json.dumps(bad), as_json)
        self.assertIn(status, (400, 422))
        status, _, _ = self.server.raw("POST", "/v1/tasks", f"{{\"image\": \"{canary['bad_value']}", as_json)
        self.assertEqual(400, status)
        query = f"label={canary['bad_field']}%3D{canary['bad_value']}&{canary['bad_field']}=1"
        status, _, _ = self.server.raw("GET", f"/v1/tasks?{query}")
        self.assertEqual(400, status)

    def engine_knows(self, names):
        """Everything that the engine tells anybody, by the question."""
        told = {}
        def ask(path):
            status, data = self.engine.request("GET", path)
            self.assertLess(status, 300, path)
            told[path] = data
        for name in names:
            ask(f"/containers/{name}/json?size=1")
            ask(f"/containers/{name}/changes")
            ask(f"/containers/{name}/stats?stream=false")
            ask(f"/volumes/{name}-ws")
        ask("/containers/json?all=1&size=1")
        ask("/volumes")
        ask("/networks")
        ask("/images/json?all=1")
        ask(f"/images/{urllib.parse.quote(IMAGE)}/json")
        ask(f"/images/{urllib.parse.quote(IMAGE)}/history")
        ask("/info")
        ask(f"/events?since={self.since}&until={int(time.time()) + 1}")
        for name in names:  # the questions do reach what they are about
            self.assertIn(name.encode(), told["/containers/json?all=1&size=1"])
            self.assertIn(name.encode(), told[next(p for p in told if p.startswith("/events"))])
            self.assertIn(name.encode(), told["/volumes"])
        return told

    def ours_shows(self):
        process = pathlib.Path(f"/proc/{self.server.process.pid}")
        shown = {path: self.server.raw("GET", path)[2] for path in ("/metrics", "/v1/capabilities", "/readyz")}
        shown |= {"the log of serve": self.server.log_file.read_bytes(),
                  "command line": (process / "cmdline").read_bytes(), "environment": (process / "environ").read_bytes()}
        self.assertIn(b'"level":"', shown["the log of serve"])
        self.assertIn(b"mayfly_", shown["/metrics"])
        shown["file names"] = "\n".join(str(p) for p in self.server.data.rglob("*")).encode()
        return shown

    def assert_clean(self, told, when):
        for place, canary in self.canary.items():
            for source, data in told.items():
                self.assertNotIn(canary[:40].lower().encode(), data.lower(), f"{place} in {source} {when}")

    def test_S01_what_we_keep_is_for_the_owner_alone(self):
        self.server.run("true", name="kept")
        self.assertEqual(0o700, stat.S_IMODE(self.server.data.stat().st_mode))
        self.assertEqual(0o600, stat.S_IMODE(self.server.socket.stat().st_mode))
        files = [p for p in self.server.data.rglob("*") if not p.is_symlink()]
        self.assertTrue(any(p.name == "tasks.db" for p in files))
        open_to_others = [str(p) for p in files if os.lstat(p).st_mode & 0o077 and not self.is_below_private(p)]
        self.assertEqual([], open_to_others)

    # What stands in a directory of mode 0700 is closed, whatever its own mode.
    def is_below_private(self, path):
        return any(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in path.parents if self.server.data in (p, *p.parents))


if __name__ == "__main__":
    unittest.main()

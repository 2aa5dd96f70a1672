"""P03, P05, P06, F46: results and inputs that point elsewhere, never end, are many, or have names that bite."""

import io
import pathlib
import tarfile
import tempfile
import unittest
import urllib.parse

import probes
from harness import IMAGE, ServerTest, b64, count, sha256

KIB = 1 << 10
FILES, BYTES = 300, 2 << 20


class Results(ServerTest):
    policy = f"""
apiVersion: mayfly.dev/v1
kind: Policy
metadata: {{name: results}}
spec:
  defaults:
    limits: {{memory: 64Mi, workspace: 64Mi, tmp: 8Mi, shm: 4Mi, pids: 64}}
  artifacts: {{bytes: {BYTES}, files: {FILES}}}
"""

    def stored_bytes(self, task):
        return sum(p.stat().st_size for p in (self.server.data / "artifacts").rglob("*") if p.is_file() and task in str(p))

    # --- what is no file of the workspace ---
    def test_P03_F46_links_fifos_and_sockets_are_not_followed_and_not_waited_for(self):
        task = self.server.submit(
            "mkdir -p out/real; echo plain > out/plain; echo deep > out/real/deep\n"
            "ln -s /etc/passwd out/passwd; ln -s /proc/1/environ out/environ; ln -s /proc/self/root/etc/passwd out/magic\n"
            "ln -s loop out/loop; ln -s /etc out/etc; ln -s real out/dirlink; ln -s plain out/inside\n"
            "ln -s ../../../../etc/passwd out/up\n"
            "ln -s /proc/1/fd out/fds; ln -s /proc/self/fd/0 out/stdin; mkfifo out/fifo; ln out/plain out/hard\n"
            "(echo late > out/fifo &) ; ./probe socket out/socket; sleep 100 > out/held &\n"
            "[ -S out/socket ] || exit 9; until [ -e out/held ]; do :; done; chmod 4755 out/real/deep; exit 0",
            outputs=["out/**", "out/etc/passwd", "out/dirlink/*", "out/fds/*"], inputs=[probes.as_input()])
        shown = self.server.wait(task)
        listed = self.server.artifacts(task)
        self.assertEqual({"out/plain", "out/hard", "out/real/deep", "out/held"}, set(listed), shown["message"])
        self.assertEqual(b"plain\n", self.server.artifact(task, "out/plain"))
        self.assertRegex(listed["out/real/deep"]["mode"], "^0[0-7]{3}$")
        # A declared name that is reached through a link only is not there.
        self.assertEqual(("failed", "output_missing"), (shown["state"], shown["reason"]))
        self.assertIn("out/etc/passwd", shown["message"])

    def test_F46_a_declared_output_that_was_replaced_is_missing_and_not_read(self):
        kinds = {"link": "ln -s /etc/passwd result", "itself": "ln -s result result", "fifo": "mkfifo result",
                 "directory": "mkdir result; echo x > result/x", "nothing": "true", "dangling": "ln -s /nowhere result"}
        tasks = {kind: self.server.submit(f"echo real > result; rm result; {make}", outputs=["result"])
                 for kind, make in kinds.items()}
        for kind, task in tasks.items():
            shown = self.server.wait(task)
            self.assertEqual(("failed", "output_missing", 0), (shown["state"], shown["reason"], shown["exit_code"]), kind)
            self.assertEqual({}, self.server.artifacts(task), kind)

    # --- what is too much ---
    def test_P05_growing_and_sparse_files_are_bounded(self):
        growing = self.server.submit("while :; do cat /proc/version; done > grow & "
                                     "while :; do echo swap > s; rm s; mkfifo s; rm s; done & until [ -s grow ]; do :; done; exit 0",
                                     outputs=["grow", "s*"], limits={"workspace": "1Mi"})
        sparse = self.server.submit("truncate -s 100G far; for i in 1 2 3 4 5 6 7 8; do truncate -s 60M hole$i; done; true",
                                    outputs=["*"])
        single = self.server.submit(f"truncate -s {BYTES + 1} big; echo small > a", outputs=["*"])
        shown = self.server.wait(growing)
        self.assertEqual("succeeded", shown["state"], shown["message"])
        listed = self.server.artifacts(growing)
        content = self.server.artifact(growing, "grow")
        self.assertEqual((len(content), sha256(content)), (listed["grow"]["size"], listed["grow"]["sha256"]))
        for task in (sparse, single):
            shown = self.server.wait(task)
            self.assertEqual(("failed", "output_missing"), (shown["state"], shown["reason"]), shown["message"])
            self.assertIn(str(BYTES), shown["message"])
            self.assertLessEqual(sum(a["size"] for a in self.server.artifacts(task).values()), BYTES)
            self.assertLessEqual(self.stored_bytes(task), BYTES + 256 * KIB)
        self.assertEqual({"a"}, set(self.server.artifacts(single)))  # what came before the bound is kept

    def test_P05_very_many_files_end_at_the_bound(self):
        many = count(16000)
        before = self.server.memory_kib("VmHWM")
        task = self.server.submit(f"mkdir d; cd d; i=0; while [ $i -lt {many} ]; do : > f$i; i=$((i+1)); done; echo $i",
                                  outputs=["d/**"])
        shown = self.server.wait(task)
        self.assertEqual(b"%d\n" % many, self.server.logs(task))
        self.assertEqual(("failed", "output_missing"), (shown["state"], shown["reason"]), shown["message"])
        self.assertIn(str(FILES), shown["message"])
        names = sorted("d/f" + str(i) for i in range(many))[:FILES]
        self.assertEqual(names, sorted(self.server.artifacts(task)))
        self.assertLess(self.server.memory_kib("VmHWM") - before, 64 * KIB)

    # --- names ---
    NAMES = (b"new\nline", b'q"uote', b"%2f..%2fetc", b"semi;colon,comma", b"page.html", b"pic.svg", "é漢\u202e.txt".encode(),
             b"\xff\xfe", b" space ", b"-rf", b"\x1b[31mred", b"tab\there", b"back\\slash", b"cr\rlf", b"a" * 254, b"%00",
             b"..hidden", b"...", b"c:d", b"x?y#z")
    DEEP, TOO_DEEP = "/".join(["e" * 250] * 3), "/".join(["e" * 250] * 5)  # the second is longer than any path that can be asked for

    def test_P06_names_that_bite_come_back_as_they_are_and_harm_no_header(self):
        def quoted(name):  # for printf of the shell
            return "".join(f"\\{byte:03o}" for byte in b"d/" + name + b"X")
        script = "mkdir -p d\n"
        for name in self.NAMES:
            script += f"printf '%s' '<script>alert(1)</script>' > \"$(printf '{quoted(name)}')\"\n"
        for path in (self.DEEP, self.TOO_DEEP):
            script += f"mkdir -p {path}; echo deep > {path}/f\n"
        task = self.server.submit(script=script, outputs=["d/*", "e*/**"])
        shown = self.server.wait(task)
        self.assertEqual("succeeded", shown["state"], (shown["message"], self.server.logs(task, "stderr")))
        items = self.server.call("GET", f"/v1/tasks/{task}/artifacts", expect=200)["items"]
        wanted = {b"d/" + name + b"X" for name in self.NAMES} | {(self.DEEP + "/f").encode()}
        by_name = {urllib.parse.unquote_to_bytes(i["href"].split("/artifacts/")[1]): i for i in items}
        self.assertEqual(wanted, set(by_name))
        for name, item in by_name.items():
            self.check_download(name, item)
        self.check_tar(task, wanted)
        self.check_client(task, wanted)

    def check_download(self, name, item):
        self.assertNotRegex(item["href"], r"[^A-Za-z0-9/_.~%-]")
        status, headers, data = self.server.raw("GET", item["href"])
        self.assertEqual(200, status, name)
        self.assertEqual(item["sha256"], sha256(data))
        self.assertEqual("application/octet-stream", headers["Content-Type"])
        self.assertEqual("nosniff", headers["X-Content-Type-Options"])
        self.assertRegex(headers["Content-Disposition"],
                         r"^attachment; filename=\"[A-Za-z0-9._-]*\"(; filename\*=UTF-8''[A-Za-z0-9._~%-]+)?$")

    def check_tar(self, task, wanted):
        status, _, data = self.server.raw("GET", f"/v1/tasks/{task}/artifacts.tar")
        self.assertEqual(200, status)
        with tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape") as tar:
            members = {m.name.encode("utf-8", "surrogateescape"): m for m in tar.getmembers() if not m.isdir()}
            self.assertEqual(wanted, {name.removeprefix(task.encode() + b"/") for name in members})
            for name, member in members.items():
                self.assertTrue(member.isreg() and not name.startswith(b"/") and b".." not in name.split(b"/"), name)
                self.assertLessEqual(member.mode, 0o777)

    # The command line writes files where it was told, and control bytes do not reach a terminal.
    def check_client(self, task, wanted):
        with tempfile.TemporaryDirectory() as scratch:
            fetched = self.server.mayfly("artifacts", task, "--output", scratch + "/out")
            self.assertEqual(0, fetched.returncode, fetched.stderr)
            files = {bytes(p.relative_to(scratch + "/out")) for p in pathlib.Path(scratch).rglob("*") if p.is_file()}
            self.assertEqual(wanted, files)
        table = self.server.mayfly("artifacts", task, "--table")
        self.assertEqual(0, table.returncode, table.stderr)
        for byte in b"\x1b\r\x07":
            self.assertNotIn(byte, table.stdout)

    # --- the other way ---
    def test_F46_inputs_cannot_point_out_of_the_workspace(self):
        bad = ("../x", "/etc/x", "a/../../x", "a//b", "./a", "a/.", "a/", "", "..", "a\0b", "x" * 256, "d/" * 512 + "x")
        for path in bad:
            status, problem = self.refuse(inputs=[{"path": path, "content": ""}])
            self.assertIn("/inputs/0/path", [e["pointer"] for e in problem["errors"]], path)
        for first, second in (("a", "a"), ("a", "a/b"), ("a/b", "a")):
            self.refuse(inputs=[{"path": first, "content": "1"}, {"path": second, "content": "2"}])
        for mode in ("4755", "1777", "999", "0x1ff", "07777"):
            self.refuse(inputs=[{"path": "a", "content": "1", "mode": mode}])
        for pattern in ("../*", "/etc/*", "a/../b", ""):
            self.refuse(outputs=[pattern])

    def refuse(self, **spec):
        status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], **spec})
        self.assertIn(status, (400, 422), spec)
        return status, problem

    def test_P06_input_names_that_bite_arrive_byte_for_byte(self):
        names = ["new\nline", "q\"'`$(touch gone)", "-rf", "%2f", "é漢", " ", "a/b/c", "\x1b[31m", "s" * 255]
        task = self.server.submit("find . -type f | wc -l; find . -type f -exec cat {} +; ls gone 2>/dev/null",
                                  inputs=[{"path": name, "content_base64": b64(b"x\n")} for name in names])
        self.server.wait(task)
        # A name with a newline is two lines of find.
        self.assertEqual(b"%d\n" % (len(names) + 1) + b"x\n" * len(names), self.server.logs(task))


if __name__ == "__main__":
    unittest.main()

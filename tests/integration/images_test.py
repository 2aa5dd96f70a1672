"""The image brings files and nothing else: whatever it says about how to run it, the same command runs the same way."""

import io
import os
import pathlib
import tarfile
import unittest

from harness import IMAGE, ServerTest, count, poll_until

BUSYBOX = pathlib.Path("/bin/busybox")


def root_fs(*extra, links=("sh",), tmp=None):
    """The tar of a root file system: one static busybox, some of its names, and (path, content, mode) of more files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        def add(name, content=None, mode=0o755, kind=tarfile.REGTYPE, link=""):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.linkname = kind, mode, link
            entry.size = len(content or b"")
            tar.addfile(entry, io.BytesIO(content or b""))
        add("bin", kind=tarfile.DIRTYPE)
        add("bin/busybox", BUSYBOX.read_bytes())
        for name in links:
            add(f"bin/{name}", kind=tarfile.SYMTYPE, link="busybox")
        if tmp is not None:
            add("tmp", mode=tmp, kind=tarfile.DIRTYPE)
        for name, content, mode in extra:
            add(name, content, mode)
    return out.getvalue()


class Images(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = 0

    def image(self, tar, *changes):
        """An image for this test alone."""
        type(self).made += 1
        name = f"mayfly-test/it-{os.getpid()}-{self.made}:1"
        self.engine.import_image(name, tar, *changes)
        self.addCleanup(self.engine.remove_image, name)
        return name

    def ended(self, task):
        shown = self.server.wait(task)
        return shown["state"], shown["exit_code"], self.server.logs(task), self.server.logs(task, "stderr")


class Entrypoints(Images):
    def test_F38_the_same_command_runs_alike_in_every_image(self):
        ignores = ("e.sh", b"#!/bin/sh\necho ignored\n", 0o755)
        passes = ("e.sh", b"#!/bin/sh\nexport FROM_ENTRYPOINT=1\nexec \"$@\"\n", 0o755)
        images = {"none": self.image(root_fs()), "echo": self.image(root_fs(links=("sh", "echo")), 'ENTRYPOINT ["/bin/echo"]'),
                  "shell form": self.image(root_fs(), "ENTRYPOINT exec /bin/false"), "ignores": self.image(root_fs(ignores), 'ENTRYPOINT ["/e.sh"]'),
                  "passes": self.image(root_fs(passes), 'ENTRYPOINT ["/e.sh"]'), "missing": self.image(root_fs(), 'ENTRYPOINT ["/none"]', 'CMD ["x"]'),
                  "all": self.image(root_fs(), 'ENTRYPOINT ["/bin/sh"]', "USER 1234:1234", "WORKDIR /else/where", "VOLUME /data",
                                    'HEALTHCHECK --interval=1s CMD ["/bin/false"]', "ENV HOME=/root LD_PRELOAD=/x.so FROM_IMAGE=1", 'CMD ["-c", "exit 77"]')}
        look = 'busybox pwd; busybox id -u; echo "$HOME $FROM_ENTRYPOINT$FROM_IMAGE$LD_PRELOAD" "$@"; exit 5'
        tasks = {what: self.server.submit(["/bin/busybox", "sh", "-c", look, "-", "a", "b c"], image=image) for what, image in images.items()}
        for what, task in tasks.items():
            self.assertEqual(("failed", 5, b"/workspace\n65532\n/workspace  a b c\n", b""), self.ended(task), what)

    def test_F38_the_runner_is_process_one_whatever_the_image_says(self):
        image = self.image(root_fs(), 'ENTRYPOINT ["/bin/echo"]', 'CMD ["x"]')
        task = self.server.submit(["/bin/busybox", "sh", "-c", "busybox echo $PPID; busybox cat /proc/1/comm; busybox sleep 100000"], image=image)
        poll_until(lambda: self.server.logs(task).count(b"\n") == 2, 60, "its words")
        self.assertEqual(b"1\n", self.server.logs(task).splitlines(True)[0])
        inspect = self.engine.json("GET", f"/containers/{self.server.sandbox_of(task)}/json")
        self.assertEqual((["/.mayfly/runner"], False), (inspect["Config"]["Entrypoint"], bool(inspect["HostConfig"]["Init"])))
        self.assertFalse(inspect["Config"]["Cmd"])
        self.server.cancel(task)

    def test_F38_the_images_path_finds_its_tools_unless_the_task_sets_one(self):
        tool = ("opt/tool/bin/mytool", b"#!/bin/sh\necho tool\n", 0o755)
        image = self.image(root_fs(tool), "ENV PATH=/opt/tool/bin:/bin")
        found, own = self.server.submit(["mytool"], image=image), self.server.submit(["mytool"], image=image, env={"PATH": "/bin"})
        self.assertEqual(("succeeded", 0, b"tool\n", b""), self.ended(found))
        self.assertEqual(("failed", 127), self.ended(own)[:2])
        self.assertEqual("command_not_found", self.server.show(own)["reason"])

    def test_F38_a_volume_of_the_image_is_no_door_to_the_hosts_disk(self):
        data = ("data/brought", b"x", 0o644)
        image = self.image(root_fs(data), "VOLUME /data /more")
        fill = "busybox dd if=/dev/zero of=/data/x bs=1M count=20; busybox ls /data; busybox df -k /data /more | busybox awk 'NR > 1 {print $2}'"
        state, _, out, err = self.ended(self.server.submit(["/bin/busybox", "sh", "-c", fill], image=image))
        self.assertEqual(("succeeded", b"x\n1024\n1024\n"), (state, out))
        self.assertIn(b"No space left", err)

    def test_F37_an_image_that_is_not_there_is_told_as_such(self):
        """F37: with the reference that was asked, and no container is made for it."""
        only_tagged = self.image(root_fs())
        bare = only_tagged.removesuffix(":1")
        image_id = self.engine.json("GET", f"/images/{only_tagged}/json")["Id"]
        for reference in (bare, bare + ":2", "mayfly-test/never-there:1", "sha256:" + "0" * 64, "registry.invalid:5000/x/y:1"):
            task = self.server.submit(["true"], image=reference)
            shown = self.server.wait(task)
            self.assertEqual(("failed", "image_unavailable", "infra"), (shown["state"], shown["reason"], shown["reason_class"]), reference)
            self.assertIsNone(shown["exit_code"])
            self.assertIn(reference, shown["message"])
        for reference in (only_tagged, image_id):
            task = self.server.submit(["/bin/busybox", "true"], image=reference)
            self.assertEqual(("succeeded", image_id), (self.server.wait(task)["state"], self.server.show(task)["image_digest"]), reference)
        for reference in ("", "Upper/Case:1", "a b", "-x", "x" * 256, "a//b", "a:b:c", "../x", "x@sha256:123"):
            status, problem = self.server.refuse({"image": reference, "command": ["true"]})
            self.assertEqual((400, "/image"), (status, problem["errors"][0]["pointer"]), reference)


class ReadOnlyRoot(Images):
    """F40: ordinary tools on a root that cannot be written, as a user that no passwd knows."""

    TOOLS = """
set -e
echo uid $(id -u) home $HOME
pwd
f=$(mktemp); echo made > $f; case $f in /tmp/*) echo mktemp ok;; esac
d=$(mktemp -d); touch $d/x; echo mktemp -d ok
echo x > $HOME/.rc; cat $HOME/.rc
cd; pwd
cd /workspace; mkdir -p a/b; ln -s a l; mv a/b c; mkfifo p; rmdir c; echo workspace ok
mkdir -m 700 $TMPDIR/private; echo > $TMPDIR/private/x; echo tmpdir ok
echo > /dev/shm/x; echo shm ok
cat /dev/null; head -c 4 /dev/urandom | wc -c
echo out > /dev/stdout; echo err > /dev/stderr
test -r /proc/self/status; echo proc ok
"""
    WANTED = ("uid 65532 home /workspace\n/workspace\nmktemp ok\nmktemp -d ok\nx\n/workspace\nworkspace ok\ntmpdir ok\nshm ok\n4\nout\nproc ok\n")

    def tools_image(self, *changes, tmp=None):
        names = "sh cat chmod head id ln ls mkdir mkfifo mktemp mv rm rmdir touch wc".split()
        return self.image(root_fs(links=names, tmp=tmp), *changes)

    def test_F40_tools_find_a_home_a_tmp_and_a_workspace_in_an_image_from_scratch(self):
        images = {"no /tmp": self.tools_image(), "closed /tmp": self.tools_image(tmp=0o700),
                  "user and directory": self.tools_image("USER nobody", "WORKDIR /nowhere"),
                  "VOLUME /tmp": self.tools_image("VOLUME /tmp", "VOLUME /workspace"), "the usual one": IMAGE}
        tasks = {what: self.server.submit(script=self.TOOLS, image=image) for what, image in images.items()}
        for what, task in tasks.items():
            state, code, out, err = self.ended(task)
            self.assertEqual(("succeeded", 0, self.WANTED, "err\n"), (state, code, out.decode(), err.decode()), what)

    def test_F40_what_stays_read_only_fails_with_the_usual_words_and_is_the_tasks_own_fault(self):
        image = self.tools_image()
        places = ["/x", "/bin/x", "/run/x", "/var/tmp/x", "/etc/x", "/.mayfly/x"]
        tasks = {place: self.server.submit(["sh", "-c", "d=${1%/*}; mkdir -p ${d:-/} && echo > $1", "-", place], image=image) for place in places}
        for place, task in tasks.items():
            state, code, _, err = self.ended(task)
            shown = self.server.show(task)
            self.assertEqual(("failed", 1, "exit_nonzero", "user", []), (state, code, shown["reason"], shown["reason_class"], shown["limits_hit"]), place)
            self.assertRegex(err.decode(), "Read-only file system|Permission denied|nonexistent directory", place)

    def test_F40_a_script_needs_nothing_but_a_shell(self):
        task = self.server.submit(script="echo $0 | busybox_is_not_there || echo no; exit 6", image=self.image(root_fs()))
        state, code, out, _ = self.ended(task)
        self.assertEqual(("failed", 6, b"no\n"), (state, code, out))
        none = self.server.submit(script="exit 0", image=self.image(root_fs(links=())))
        shown = self.server.wait(none)
        self.assertEqual(("failed", "command_not_found", 127), (shown["state"], shown["reason"], shown["exit_code"]))
        self.assertIn("/bin/sh", shown["message"])

    def test_F40_files_belong_to_the_task_and_modes_are_usual(self):
        task = self.server.submit("touch f; mkdir d; umask; stat -c '%a %u %g' f d /workspace; stat -c %u /tmp", outputs=["f"])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual("0022\n644 65532 65532\n755 65532 65532\n700 65532 65532\n65532\n", self.server.logs(task).decode())

    def test_two_tasks_share_nothing_of_their_workspaces(self):
        mark = "ls -A /workspace /tmp /dev/shm; echo x > /workspace/m; echo x > /tmp/m; echo x > /dev/shm/m"
        for task in [self.server.submit(mark) for _ in range(count(30))]:
            self.assertEqual(("succeeded", b"/dev/shm:\n\n/tmp:\n\n/workspace:\n"), (self.server.wait(task)["state"], self.server.logs(task)))


if __name__ == "__main__":
    unittest.main()

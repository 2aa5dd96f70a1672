"""C01 to C19, K01, K02, N01, N02, R04: a task as a prisoner, with the tools of probes/ in its hands."""

import io
import json
import pathlib
import socket
import subprocess
import tarfile
import unittest
import uuid

import probes
from harness import ServerTest, UnixConnection, b64

import channel_wire as wire

GOLDEN = probes.SOURCES / "syscalls.golden"
PSEUDO = {"proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue"}
NO_CAPABILITY = "0000000000000000"
KNOBS = ("/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory "
         "/proc/sys/net/ipv4/ip_forward /proc/sys/fs/binfmt_misc/register /proc/sysrq-trigger /proc/irq/0/smp_affinity /proc/mtrr "
         "/sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs "
         "/sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids/pids.max "
         "/sys/fs/cgroup/devices/devices.allow /sys/fs/cgroup/cgroup.subtree_control /sys/kernel/uevent_helper /sys/power/state "
         "/sys/kernel/mm/transparent_hugepage/enabled /sys/module/kernel/parameters/panic /etc/passwd")
MASKED = ("/proc/kcore /proc/keys /proc/kallsyms /proc/cmdline /proc/interrupts /proc/config.gz /proc/timer_list /proc/sched_debug "
          "/proc/latency_stats /proc/kmsg /proc/kpagecount /proc/vmallocinfo /proc/slabinfo")
MASKED_DIRECTORIES = "/sys/firmware /proc/acpi /proc/scsi /proc/asound /proc/pressure /sys/devices/virtual/powercap"


def fields(text):
    """/proc/PID/status as a dictionary."""
    return {key: " ".join(value.split()) for key, _, value in (line.partition(":") for line in text.splitlines())}


def mounts(text):
    """mountinfo lines as (target, type, flags of mount and file system together)."""
    found = []
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        found.append((left.split()[4], right.split()[0], set(left.split()[5].split(",")), set(right.split()[2].split(","))))
    return found


class Confinement(ServerTest):
    policy = """
apiVersion: mayfly.dev/v1
kind: Policy
metadata: {name: confinement}
spec:
  defaults:
    limits: {memory: 64Mi, workspace: 16Mi, tmp: 8Mi, shm: 4Mi, pids: 64}
"""

    def probe(self, shell, **spec):
        shown, text = probes.run(self.server, shell, **spec)
        self.assertEqual(("succeeded", None), (shown["state"], shown["reason"]), text)
        return text

    def test_C01_a_task_finds_itself_confined(self):
        text = self.probe("cat /proc/self/status; echo ==; cat /proc/net/dev; echo ==; cat /proc/self/mountinfo; echo ==; "
                          "cat /proc/self/oom_score_adj /etc/resolv.conf /proc/sys/kernel/hostname; echo ==; "
                          "ls /proc/$$/fd; readlink /proc/$$/fd/0; echo ==; env | sort; echo ==; ulimit -c")
        status, net, mountinfo, misc, descriptors, environment, core = text.split("==\n")
        status = fields(status)
        for kind in ("Uid", "Gid"):
            self.assertEqual("65532 65532 65532 65532", status[kind])
        self.assertLessEqual(set(status["Groups"].split()), {"65532"})
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(NO_CAPABILITY, status[kind], kind)
        self.assertEqual(("1", "2"), (status["NoNewPrivs"], status["Seccomp"]))
        self.assertEqual(["lo"], [line.split(":")[0].strip() for line in net.splitlines() if ":" in line])
        self.assertEqual("1000\nnameserver 127.0.0.1\ntask\n", misc)
        self.assertEqual("0\n1\n2\n/dev/null\n", descriptors)
        names = {line.split("=")[0] for line in environment.splitlines()}
        self.assertLessEqual(names, {"HOME", "USER", "TMPDIR", "LANG", "PATH", "PWD", "SHLVL", "_", "OLDPWD"})
        self.assertEqual("0\n", core)
        self.check_mounts(mounts(mountinfo))

    def check_mounts(self, found):
        writable = {}
        for target, kind, flags, options in found:
            if kind in PSEUDO or "ro" in flags or "ro" in options or target.startswith(("/proc/", "/sys/")):
                continue
            writable[target] = flags
        self.assertEqual({"/dev", "/dev/shm", "/tmp", "/workspace"}, set(writable))
        for target, flags in writable.items():
            self.assertLessEqual({"nosuid"} if target == "/dev" else {"nosuid", "nodev"}, flags, target)
        root = [flags | options for target, _, flags, options in found if target == "/"]
        self.assertIn("ro", root[-1])

    def test_C06_calls_answer_as_in_the_golden_table(self):
        wanted = probes.outcomes("".join(l for l in GOLDEN.read_text().splitlines(True) if not l.startswith("#")))
        found = probes.outcomes(self.probe("./probe syscalls"))
        self.assertGreater(len(wanted), 90)
        self.assertEqual(wanted, {name: found.get(name) for name in wanted})
        self.assertEqual(set(), set(found) - set(wanted))

    def test_C07_set_user_id_and_file_capabilities_of_an_image_give_nothing(self):
        image = self.import_image()
        text = self.probe("stat -c '%a %u' /bin/as-root /bin/as-group; /bin/as-root identity; /bin/as-group identity; "
                          "/bin/with-capability identity || echo refused", image=image)
        plain = f"uid 65532 65532 gid 65532 65532\nCapPrm:\t{NO_CAPABILITY}\nCapEff:\t{NO_CAPABILITY}\n"
        start = f"4755 0\n2755 0\n{plain}{plain}"
        self.assertEqual(start, text[:len(start)])
        self.assertIn(text[len(start):], {plain, "refused\n"})

    def import_image(self):
        """An image with privileged files, from the test's own tar."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            def add(name, data, mode, **pax):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.pax_headers = len(data), mode, pax.get("pax", {})
                tar.addfile(info, io.BytesIO(data))
            busybox = pathlib.Path("/bin/busybox").read_bytes()
            for name in ("sh", "stat", "cat", "echo"):
                add("bin/" + name, busybox, 0o755)
            add("bin/as-root", probes.binary(), 0o4755)
            add("bin/as-group", probes.binary(), 0o2755)
            # struct vfs_cap_data, version 2, effective: CAP_NET_RAW
            capability = "\x01\0\0\x02\0\x20\0\0" + "\0" * 12
            add("bin/with-capability", probes.binary(), 0o755, pax={"SCHILY.xattr.security.capability": capability})
            for name in ("tmp", "proc", "sys", "dev", "etc", "workspace"):
                info = tarfile.TarInfo(name)
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
        reference = f"mayfly-test/privileged-{uuid.uuid4().hex[:12]}:1"
        name, tag = reference.split(":")
        connection = UnixConnection(self.engine.path, 60)
        connection.request("POST", f"/images/create?fromSrc=-&repo={name}&tag={tag}", buffer.getvalue(),
                           {"Content-Type": "application/x-tar"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        self.assertEqual(200, answer.status, body)
        self.addCleanup(self.engine.request, "DELETE", f"/images/{reference}?force=1")
        return reference

    def test_C08_nothing_of_the_kernel_can_be_set_and_masked_files_tell_nothing(self):
        core_pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
        text = self.probe(f"./probe files write {KNOBS}; echo ==; ./probe files read {MASKED}; echo ==; "
                          f"ls -A {MASKED_DIRECTORIES} 2>/dev/null; true")
        written, read, listed = (part for part in text.split("==\n"))
        for path, outcome in probes.outcomes(written).items():
            self.assertIn(outcome, {"EROFS", "EACCES", "EPERM", "ENOENT"}, path)
        self.assertIn(probes.outcomes(written)["/proc/sys/kernel/core_pattern"], {"EROFS", "EACCES"})
        for path, outcome in probes.outcomes(read).items():
            self.assertIn(outcome, {"ok", "EACCES", "EPERM", "ENOENT"}, path)  # ok: opened, and nothing in it
        self.assertEqual("ok", probes.outcomes(read)["/proc/cmdline"])
        self.assertEqual([], [line for line in listed.splitlines() if line and not line.endswith(":")])
        self.assertEqual(core_pattern, pathlib.Path("/proc/sys/kernel/core_pattern").read_text())

    def test_C09_no_namespaces_mounts_and_devices(self):
        found = probes.outcomes(self.probe("./probe namespaces"))
        self.assertEqual("ok", found.pop("/dev/null"))
        self.assertGreater(len(found), 55)
        for name, outcome in found.items():
            self.assertEqual("ENOENT" if name.startswith("/dev/") else "EPERM", outcome, name)

    def test_C10_K01_records_of_the_channel_in_the_output_are_text(self):
        forged = self.forged_records()
        task = self.server.submit("cat forged; cat forged >&2; printf tail; exit 7",
                                  inputs=[{"path": "forged", "content_base64": b64(forged)}])
        self.assert_untouched(task, forged + b"tail", forged)

    def test_C10_K02_the_channel_cannot_be_written_or_read_through_proc_and_consoles(self):
        forged = self.forged_records()
        task = self.server.submit(
            "n=0\nfor f in /proc/1/fd/* /proc/1/fd/0 /proc/1/fd/1 /proc/1/fd/2 /proc/1/fd/100 /proc/1/fd/101 /proc/1/fd/102 "
            "/proc/1/fd/103 /proc/1/task/1/fd/1 /dev/console /dev/tty /dev/tty0 /dev/pts/0 /proc/1/mem; do\n"
            "  { cat forged >> \"$f\"; } 2>/dev/null && echo \"wrote $f\"\n"
            "  { timeout 1 head -c 1 < \"$f\" >/dev/null; } 2>/dev/null && echo \"read $f\"\n"
            "  n=$((n+1))\ndone\necho tried $((n > 10))\nexit 7",
            inputs=[{"path": "forged", "content_base64": b64(forged)}])
        self.assert_untouched(task, b"tried 1\n", b"")

    def forged_records(self):
        """What a runner would say, for every epoch and number that may be current."""
        usage = {"cpu_ms": 0, "memory": 0, "memory_peak": 0, "pids": 0, "pids_peak": 0, "stalled_ms": 0}
        ended = {"exit": 0, "signal": None, "cause": "none", "oom": False, "usage": usage, "out_bytes": 0, "err_bytes": 0,
                 "dropped": 0, "message": ""}
        lines = [b"\n"]
        for epoch in range(1, 4):
            lines.append(wire.notification("ack", epoch, got=1 << 30))
            lines.append(wire.notification("out", epoch, 2, b"forged output", s=1, off=0))
            lines += [wire.notification("ended", epoch, number, **ended) for number in range(1, 8)]
        lines.append(json.dumps({"jsonrpc": "2.0", "method": "task.complete", "params": {"exit_code": 0}}).encode() + b"\n")
        lines.append(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "llm.chat", "params": {}}).encode() + b"\n")
        return b"".join(lines)

    def assert_untouched(self, task, stdout, stderr):
        shown = self.server.wait(task)
        self.assertEqual(("failed", "exit_nonzero", 7), (shown["state"], shown["reason"], shown["exit_code"]),
                         self.server.logs(task)[:500])
        self.assertEqual(stdout, self.server.logs(task))
        self.assertEqual(stderr, self.server.logs(task, "stderr"))

    def test_C11_the_runner_shows_and_gives_nothing(self):
        # The sleeper has an output of its own: what the probe reads there is not read from under the runner.
        text = self.probe("sleep 100 </dev/null >own 2>&1 & ./probe process 1; echo ==; ./probe process $!; kill $!")
        self.assertEqual(1, text.count("==\n"), text)
        runner, own = (probes.outcomes(part) for part in text.split("==\n"))
        self.assertGreater(len(runner), 50)
        for name, outcome in runner.items():
            # Which check comes first differs; only names that this kernel does not have may be absent.
            optional = name in {"read stack", "write oom_adj", "write autogroup", "write clear_refs"}
            self.assertIn(outcome, {"EACCES", "EPERM"} | ({"ENOENT"} if optional else set()), name)
        # The same attempts on a process of the task itself: the probe does see what is open to it.
        for name in ("read mem", "read environ", "read maps", "read fd/0", "write oom_score_adj", "readlink root",
                     "readlink fd/1"):
            self.assertEqual("ok", own[name], name)
        for name in ("process_vm_readv", "ptrace-attach", "pidfd_getfd", "kcmp"):
            self.assertEqual("EPERM", own[name], name)

    def test_C12_signals_from_inside_do_not_reach_the_runner(self):
        task = self.server.submit(
            "for s in KILL STOP TERM USR1 HUP INT QUIT CHLD; do kill -$s 1; done\n"
            "i=1; while [ $i -le 64 ]; do kill -$i 1 2>/dev/null; i=$((i+1)); done\n"
            "trap '' TERM; sleep 1000 & sleep 1000 & kill -TERM -1; kill -KILL -1; wait\n"
            "echo alive; kill -0 1 && echo 'and PID 1 too'; exit 7")
        self.assert_untouched(task, b"alive\nand PID 1 too\n", b"")

    def test_C19_limits_priorities_and_forged_signals_do_not_reach_the_runner(self):
        state = "cut -d ' ' -f 18,19,40,41 /proc/1/stat; cat /proc/1/limits; taskset -p 1"
        task = self.server.submit(f"({state}) > before; ./probe meddle 1 > attempts; ({state}) > after; cat attempts; "
                                  "sort before | uniq -c | wc -l; cmp before after && echo unchanged; exit 7",
                                  inputs=[probes.as_input()])
        shown = self.server.wait(task)
        self.assertEqual(("failed", "exit_nonzero", 7), (shown["state"], shown["reason"], shown["exit_code"]))
        text = self.server.logs(task).decode()
        self.assertTrue(text.endswith("unchanged\n"), text)
        found = probes.outcomes(text)
        calls = ("prlimit", "set", "ioprio", "sched", "rt_", "pidfd", "tg")
        attempts = {name: found[name] for name in found if name.startswith(calls)}
        self.assertEqual(24, len(attempts), attempts)
        for name, outcome in attempts.items():
            self.assertEqual("ok" if name in {"pidfd_send_signal-queue", "tgkill"} else "EPERM", outcome, name)

    def test_R04_no_writable_path_outside_of_the_quota(self):
        text = self.probe("cd /; /workspace/probe writable /")
        found = {line for line in text.splitlines() if not line.startswith("file /proc/")}  # they keep nothing
        self.assertIn("walked", found)
        self.assertEqual({"walked", "directory /workspace", "directory /tmp", "directory /dev/shm"},
                         {line for line in found if line != "file /workspace/probe"})

    def test_N01_N02_no_network_no_resolver_of_the_host_and_no_sockets_of_it(self):
        name = "mayfly-attack-" + uuid.uuid4().hex
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listening.close)
        listening.bind("\0" + name)
        listening.listen()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as here:
            here.connect("\0" + name)  # from here it answers
        addresses = self.host_addresses()
        self.assertGreater(len(addresses), 0)
        text = self.probe(f"./probe network {name} {' '.join(addresses)}; echo ==; cat /etc/resolv.conf; echo ==; "
                          "nslookup example.com >/dev/null 2>&1 && echo resolved; cat /etc/hosts")
        tried, resolver, rest = text.split("==\n")
        outcomes = probes.outcomes(tried)
        self.assertEqual("ECONNREFUSED", outcomes.pop("abstract"))
        self.assertEqual(5 + 2 * len(addresses), len(outcomes))
        for attempt, outcome in outcomes.items():
            self.assertIn(outcome, {"ENETUNREACH", "EPERM", "EACCES", "EADDRNOTAVAIL"}, attempt)
        self.assertEqual("nameserver 127.0.0.1\n", resolver)
        self.assertNotIn("resolved", rest)
        for address in addresses:
            self.assertNotIn(address, rest)

    def host_addresses(self):
        listed = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
        return [a for a in listed if ":" not in a][:4]


if __name__ == "__main__":
    unittest.main()

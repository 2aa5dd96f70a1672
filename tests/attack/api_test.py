"""A01, A05, A13, C02, C03, D08, S06, V07: the doors of the API, and requests that ask for more than a task may have."""

import http.client
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import time
import unittest

from harness import BIN, IMAGE, Server, ServerTest

# What an engine, its command line and compose files would take.
FORBIDDEN = """
privileged cap_add cap_drop security_opt user group_add userns_mode read_only readonly_rootfs masked_paths readonly_paths
binds volumes volumes_from volume_driver mounts tmpfs devices device_requests device_cgroup_rules gpus storage_opt
network network_mode networks pid pid_mode ipc ipc_mode uts uts_mode cgroup cgroupns_mode cgroup_parent isolation sysctls
ulimits oom_kill_disable oom_score_adj ports port_bindings exposed_ports publish_all_ports links dns dns_search
extra_hosts hostname mac_address runtime entrypoint init restart restart_policy auto_remove log_config log_driver
healthcheck host_config stop_signal shm_size
""".split()
ASSIGNED = """
id tenant state status reason exit_code container_id engine_id policy_hash policy_version image_verified image_digest
attempts granted usage times revision desired cleanup_pending
""".split()
EVIL_VALUES = (
    {"image": "../../etc"}, {"image": IMAGE + "?platform=x"}, {"image": IMAGE + "/../x"}, {"image": "-rf"}, {"image": IMAGE + "\n"},
    {"working_dir": "/workspace/../../etc"}, {"working_dir": "x"}, {"kind": "llm"}, {"command": []}, {"command": ["a\0b"]},
    {"limits": {"memory": 0}}, {"limits": {"memory": -1}}, {"limits": {"memory": 1 << 63}}, {"limits": {"memory": "max"}},
    {"limits": {"pids": 0}}, {"limits": {"pids": -1}}, {"limits": {"pids": 1.5}}, {"limits": {"cpus": -1}}, {"limits": {"cpus": 0}},
    {"limits": {"workspace": "1m,uid=0"}}, {"limits": {"tmp": "64m,exec"}}, {"limits": {"open_files": 0}},
    {"env": {"A=B": "x"}}, {"env": {"": "x"}}, {"env": {"A": "x\0y"}}, {"labels": {"dev.mayfly.installation": "x" * 300}})
WEBSOCKET = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


class Refusals(ServerTest):
    def setUp(self):
        self.since = f"{time.time():.6f}"
        self.before = len(self.server.call("GET", "/v1/tasks?limit=200", expect=200)["items"])

    def post(self, body, content_type="application/json"):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        status, headers, data = self.server.raw("POST", "/v1/tasks", text, {"Content-Type": content_type})
        return status, json.loads(data)

    def assert_nothing_was_made(self):
        """No task of these requests, and no container at the engine."""
        self.assertEqual(self.before, len(self.server.call("GET", "/v1/tasks?limit=200", expect=200)["items"]))
        status, told = self.engine.request("GET", f"/events?since={self.since}&until={int(time.time()) + 1}")
        self.assertEqual(200, status)
        self.assertNotIn(self.server.installation().encode(), told)

    def base(self, **more):
        return {"image": IMAGE, "command": ["true"], **more}

    def test_C02_fields_of_a_container_are_refused_with_codes_of_their_own(self):
        for name in FORBIDDEN:
            for value in (True, "host", ["/:/host"], {"a": 1}, None):
                status, problem = self.post(self.base(**{name: value}))
                self.assertIn(status, (400, 422), name)
                self.assertEqual([("/" + name, "forbidden_" + name)], [(e["pointer"], e["code"]) for e in problem["errors"]])
        status, problem = self.post(self.base(**{name: True for name in FORBIDDEN}))
        self.assertGreater(len(problem["errors"]), 32)  # a long list is cut
        self.assertLessEqual({e["code"] for e in problem["errors"]}, {"forbidden_" + name for name in FORBIDDEN})
        self.assert_nothing_was_made()

    def test_C03_variants_of_such_fields_are_refused_too(self):
        camel = ["".join(part.capitalize() for part in name.split("_")) for name in FORBIDDEN]
        lower_camel = [name[0].lower() + name[1:] for name in camel]
        dashed = [name.replace("_", "-") for name in FORBIDDEN]
        for name in camel + lower_camel + dashed + [n.upper() for n in FORBIDDEN]:
            status, problem = self.post(self.base(**{name: True}))
            self.assertIn(status, (400, 422), name)
            self.assertRegex(problem["errors"][0]["code"], "^(forbidden_.*|unknown_field)$", name)
        for text in ('{"image":"%s","command":["true"],"command":["id"]}' % IMAGE,
                     '{"image":"%s","command":["true"],"privileged":false,"privileged":true}' % IMAGE,
                     '{"image":"%s","image":"evil","command":["true"]}' % IMAGE,
                     '{"image":"%s","command":["true"],"limits":{"pids":1,"pids":2}}' % IMAGE):
            self.assertIn(self.post(text)[0], (400, 422), text)
        self.assert_nothing_was_made()

    def test_C02_they_are_refused_within_parts_and_in_yaml_too(self):
        for part, extra in (("limits", "memory_swap"), ("limits", "oom_kill_disable"), ("limits", "cpuset_cpus"),
                            ("timeouts", "restart"), ("inputs", "source"), ("inputs", "mount")):
            value = {extra: 1} if part != "inputs" else [{"path": "a", "content": "", extra: "/etc"}]
            status, problem = self.post(self.base(**{part: value}))
            self.assertIn(status, (400, 422), extra)
            self.assertTrue(problem["errors"][0]["pointer"].endswith("/" + extra), problem)
        for line in ("privileged: true", "network_mode: host", "volumes: ['/:/host']", "user: root", "Privileged: true"):
            status, problem = self.post(f"image: {IMAGE}\ncommand: ['true']\n{line}\n", "application/yaml")
            self.assertIn(status, (400, 422), line)
            self.assertRegex(problem["errors"][0]["code"], "^forbidden_", line)
        status, _ = self.post(f"image: {IMAGE}\ncommand: ['true']\n<<: {{privileged: true}}\n", "application/yaml")
        self.assertIn(status, (400, 422))
        self.assert_nothing_was_made()

    def test_C02_no_value_of_a_known_field_becomes_an_option_of_the_engine(self):
        for evil in EVIL_VALUES:
            self.assertIn(self.post({**self.base(), **evil})[0], (400, 422), evil)
        self.assert_nothing_was_made()

    def test_A05_fields_that_we_assign_are_unknown(self):
        for name in ASSIGNED:
            for value in ("other", 1, {}):
                status, problem = self.post(self.base(**{name: value}))
                self.assertIn(status, (400, 422), name)
                self.assertEqual([("/" + name, "unknown_field")], [(e["pointer"], e["code"]) for e in problem["errors"]])
        self.assert_nothing_was_made()

    def test_V07_ids_that_are_paths_are_no_paths(self):
        task = self.server.submit("echo kept > a", outputs=["a"])
        self.server.wait_gone(task)
        bad = ("%2e%2e", "..", ".", "%2e", "..%2f..%2fv1", "%00", f"{task}%00", f"{task}%2f..", "%252e%252e", ";", f"{task};x",
               "%5c..%5c", "a%5cb", "%0a", f"{task}%0d%0aX:y", "%ff", "%", "%zz", "%2", f"{task}%20", task.upper(), task[:-1],
               task + "0", "tsk_", "*", "%2A", "'", "%27%20or%201=1--",
               "x" * 4000, "mayfly-sbx", "{id}", "%7Bid%7D", "//", "")
        for identity in bad:
            for suffix in ("", "/logs", "/events", "/artifacts", "/artifacts.tar", "/usage"):
                status, headers, data = self.server.raw("GET", f"/v1/tasks/{identity}{suffix}")
                if identity in {"", "//"} and suffix == "":
                    self.assertIn(status, (200, 400, 404))
                    continue
                self.assertIn(status, (400, 404), (identity, suffix, data[:200]))
                self.assertEqual("application/problem+json", headers["Content-Type"])
            status, _, _ = self.server.raw("POST", f"/v1/tasks/{identity}/cancel")
            self.assertIn(status, (400, 404, 405), identity)
        for path in ("..%2fa", "%2e%2e/a", "../a", "a%00", "a/../a", "./a", "%2fetc%2fpasswd", "/a", "a/", "%61%2f", "x" * 5000,
                     "a%0a", "..", "manifest.json", "0"):
            status, _, data = self.server.raw("GET", f"/v1/tasks/{task}/artifacts/{path}")
            self.assertIn(status, (400, 404), (path, data[:200]))
        self.assertEqual(b"kept\n", self.server.artifact(task, "a"))

    def test_A13_web_pages_are_refused_at_the_socket_too(self):
        task = self.server.submit("true")
        paths = (("GET", "/v1/tasks"), ("GET", f"/v1/tasks/{task}/events"), ("POST", f"/v1/tasks/{task}/cancel"), ("GET", "/readyz"))
        for headers in ({"Origin": "http://evil.test"}, {"Origin": "null"}, {"Origin": "http://localhost.evil.test"},
                        {"Origin": ""}, {"Origin": "http://evil.test", **WEBSOCKET}):
            for method, path in paths:
                status, answered, _ = self.server.raw(method, path, headers=headers)
                self.assertEqual(403, status, (headers, path))
                self.assertNotIn("Access-Control-Allow-Origin", answered)
        self.server.wait_gone(task)


class Tcp(unittest.TestCase):
    """A server with a TCP door: --listen 127.0.0.1:0."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--listen", "127.0.0.1:0")
        cls.addClassCleanup(cls.server.close)
        cls.server.start()
        cls.port = cls.find_port()
        cls.token = (cls.server.data / "token").read_text().strip()

    @classmethod
    def find_port(cls):
        """The kernel's word for it: which port our server's process listens on."""
        inodes = {os.readlink(f) for f in pathlib.Path(f"/proc/{cls.server.process.pid}/fd").iterdir() if f.is_symlink()}
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in inodes:
                address, port = columns[1].split(":")
                assert address == "0100007F", "not on 127.0.0.1"
                return int(port, 16)
        raise AssertionError("the server listens on no TCP port")

    def ask(self, path, method="GET", host=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host if host is not None else f"127.0.0.1:{self.port}")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def bearer(self):
        return {"Authorization": f"Bearer {self.token}"}

    def test_A01_without_the_token_nothing_is_told(self):
        self.assertEqual(200, self.ask("/v1/tasks", **self.bearer())[0].status)
        paths = json.loads(self.ask("/openapi.json", **self.bearer())[1])["paths"]
        task = "tsk_" + "0" * 26
        for path, methods in paths.items():
            path = path.replace("{id}", task).replace("{path}", "a")
            for method in (m.upper() for m in methods if m in ("get", "post", "put", "delete", "patch")):
                answer, data = self.ask(path, method)
                if path in ("/livez", "/healthz", "/readyz"):
                    self.assertEqual(200, answer.status, path)
                    self.assertNotIn(b"detail", data)
                    continue
                self.assertEqual(401, answer.status, (method, path))
                self.assertIn("Bearer", answer.getheader("WWW-Authenticate"))
        self.assertEqual(401, self.ask("/v1/nothing")[0].status)

    def test_A01_what_is_nearly_the_token_is_not(self):
        token = self.token
        other_end = token[:-1] + ("0" if token[-1] != "0" else "1")
        wrong = (f"Bearer {token[:-1]}", f"Bearer {token}x", f"Bearer {other_end}", "Bearer ", "Bearer", f"Basic {token}", token,
                 f"Bearer {token.upper()}", f"Bearer  {token}", f"Bearer {token},{token}", "Bearer null", f"Bearer {token[4:]}",
                 f"Bearer \"{token}\"")
        for value in wrong:
            answer, data = self.ask("/v1/tasks", Authorization=value)
            self.assertEqual(401, answer.status, value.replace(token, "TOKEN"))
            self.assertNotIn(token.encode(), data)
        for path in (f"/v1/tasks?token={token}", f"/v1/tasks?access_token={token}", f"/v1/tasks?authorization=Bearer%20{token}"):
            self.assertEqual(401, self.ask(path)[0].status)
        self.assertEqual(401, self.ask("/v1/tasks", Cookie=f"token={token}")[0].status)
        self.assertNotIn(token, self.server.log_file.read_text())

    def test_A13_other_hosts_and_origins_are_refused(self):
        for host in ("evil.test", f"evil.test:{self.port}", "127.0.0.1.evil.test", "localhost.evil.test", "evil.test#localhost",
                     "localhost@evil.test", "0.0.0.0", "127.0.0.2", "[::]", "169.254.169.254", "127.1", "2130706433", "localhost.",
                     "", "mayfly"):
            for path in ("/v1/tasks", "/livez"):
                answer, _ = self.ask(path, host=host, **self.bearer())
                self.assertIn(answer.status, (421, 400), host)
        for host in (f"localhost:{self.port}", "LOCALHOST", "[::1]:80", "127.0.0.1"):
            self.assertEqual(200, self.ask("/v1/tasks", host=host, **self.bearer())[0].status, host)
        for origin in ("http://evil.test", "null", f"http://localhost:{self.port}", f"http://127.0.0.1:{self.port + 1}", "file://",
                       f"http://127.0.0.1:{self.port}.evil.test"):
            answer, _ = self.ask("/v1/tasks", Origin=origin, **self.bearer())
            self.assertEqual(403, answer.status, origin)
            answer, _ = self.ask("/v1/tasks", Origin=origin, **WEBSOCKET, **self.bearer())
            self.assertEqual(403, answer.status, origin)
        answer, _ = self.ask("/v1/tasks", "OPTIONS", Origin="http://evil.test", Access_Control_Request_Method="POST")
        self.assertEqual(403, answer.status)
        self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))

    def test_S06_the_token_is_for_the_owner_alone(self):
        self.assertEqual(0o600, stat.S_IMODE((self.server.data / "token").stat().st_mode))
        self.assertGreaterEqual(len(self.token), 32)
        self.assertEqual(0o600, stat.S_IMODE(self.server.socket.stat().st_mode))


class Starts(unittest.TestCase):
    """Servers that must not start."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="mayfly-start-")
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name)

    def refuse(self, *arguments):
        """The words of a server that ends by itself; one that starts is ended and fails the test."""
        command = [str(BIN / "mayfly"), "serve", "--data-dir", str(self.dir / "data"), *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, words = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.terminate()
            _, words = process.communicate(timeout=60)
            self.fail(f"{arguments} started: {words[-600:]!r}")
        self.assertNotIn(process.returncode, (0, -11, -6), words[-600:])
        return words.decode("utf-8", "replace")

    def test_D08_addresses_that_others_reach_are_refused(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0", "10.0.0.1:8080"):
            self.assertRegex(self.refuse("--listen", address), "loopback", address)
        for address in ("example.com:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:http", "*:80",
                        "0:80", "127.1:80"):
            self.refuse("--listen", address)

    def test_S06_token_files_that_others_could_read_or_change_are_refused(self):
        good = "mft_" + "a" * 60
        def token(name, text=good, mode=0o600):
            file = self.dir / name
            file.write_text(text)
            file.chmod(mode)
            return str(file)
        os.symlink(token("real"), self.dir / "link")
        os.mkfifo(self.dir / "fifo", 0o600)
        bad = [token(f"mode{mode:o}", mode=mode) for mode in (0o644, 0o640, 0o604, 0o660, 0o620, 0o602, 0o700, 0o601)]
        texts = {"short": "mft_short", "empty": "", "spaces": "a b " * 20, "long": "x" * 5000, "lines": good + "\n" + good}
        bad += [*(token(name, text) for name, text in texts.items()), str(self.dir / "link"), str(self.dir / "fifo"), str(self.dir)]
        for file in bad:
            words = self.refuse("--listen", "127.0.0.1:0", "--token-file", file)
            self.assertIn(file, words)
            self.assertNotIn(good, words)

    def test_S06_what_stands_at_our_socket_is_left_alone(self):
        (self.dir / "file.sock").write_text("somebody's")
        self.assertIn("file.sock", self.refuse("--socket", str(self.dir / "file.sock")))
        self.assertEqual("somebody's", (self.dir / "file.sock").read_text())

    def test_C02_a_policy_cannot_open_a_sandbox_either(self):
        for name in FORBIDDEN:
            file = self.dir / "policy.yaml"
            file.write_text(f"apiVersion: mayfly.dev/v1\nkind: Policy\nmetadata: {{name: x}}\nspec:\n  {name}: true\n")
            words = self.refuse("--policy", str(file))
            self.assertIn(name, words)
            self.assertRegex(words, r"policy\.yaml:5")


if __name__ == "__main__":
    unittest.main()

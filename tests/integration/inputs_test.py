"""What a task is given arrives as it was given; what could not arrive is refused with its field, at submit."""

import concurrent.futures
import json
import time
import unittest

from harness import IMAGE, ServerTest, b64, sha256

PEM = "-----BEGIN KEY-----\n" + "\n".join("A" * 64 for _ in range(20)) + "\n-----END KEY-----\n"
# What prints the value of each variable as length and digest, so that a shell takes no part in reading it.
VALUES = {"PEM": PEM, "EQUALS": "a=b=c", "EMPTY": "", "SHELL_WORDS": "'\"`$(id)`\" $HOME ${X} \\ ; rm -rf / #", "TEXT": "日本語 ☃", "TRAILING": "x\n\n",
          "_": "underscore", "lower-case.dotted": "odd name", "A" * 200: "long name", "CONTROLS": "\x01\x1b[31m\t\r\x7f"}


class Environment(ServerTest):
    def environment(self, **spec):
        """The environment that the process itself was given, byte for byte."""
        task = self.server.submit(["cat", "/proc/self/environ"], **spec)
        shown = self.server.wait(task)
        self.assertEqual("succeeded", shown["state"], shown["message"])
        pairs = self.server.logs(task).split(b"\0")[:-1]
        self.assertEqual(len(pairs), len({pair.split(b"=", 1)[0] for pair in pairs}))
        return {name.decode(): value.decode() for name, _, value in (pair.partition(b"=") for pair in pairs)}

    def refused(self, pointer, **spec):
        status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], **spec})
        self.assertEqual((400, [pointer]), (status, [error["pointer"] for error in problem["errors"]]), problem)
        return problem["errors"][0]["detail"]

    def test_F35_values_arrive_byte_for_byte(self):
        fixed = {"HOME": "/workspace", "USER": "task", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
        found = self.environment(env=VALUES)
        path = found.pop("PATH")
        self.assertIn("/bin", path.split(":"))
        self.assertEqual({**fixed, **VALUES}, found)
        # What a task sets stands before what we would have set.
        own = {"HOME": "/tmp", "PATH": "/bin", "LANG": "", "USER": "me", "TMPDIR": "/workspace"}
        self.assertEqual(own, self.environment(env=own))

    def test_F35_arguments_and_scripts_pass_through_no_shell(self):
        words = [*VALUES.values(), "-n", "--", "*", "~"]
        task = self.server.submit(["sh", "-c", "for word; do printf '%s\\0' \"$word\"; done", "-", *words])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(words, [word.decode() for word in self.server.logs(task).split(b"\0")[:-1]])
        odd = "printf '%s' \"$0\" >/dev/null\ncat <<'END'\n" + VALUES["SHELL_WORDS"] + "\nEND\n"
        task = self.server.submit(script=odd)
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(VALUES["SHELL_WORDS"].encode() + b"\n", self.server.logs(task))

    def test_F35_the_longest_value_arrives_and_a_longer_one_is_refused(self):
        longest = "x" * (131_071 - 2)
        task = self.server.submit("printf %s \"$V\" | sha256sum | cut -c 1-64", env={"V": longest})
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(sha256(longest.encode()), self.server.logs(task).decode().strip())
        self.assertIn("131073 bytes", self.refused("/env/V", env={"V": longest + "xx"}))
        self.refused("/env/V", env={"V": "x" * 140_000})
        # As do arguments, one by one and together.
        task = self.server.submit(["sh", "-c", "printf %s \"$1\" | sha256sum | cut -c 1-64", "-", longest])
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual(sha256(longest.encode()), self.server.logs(task).decode().strip())
        self.refused("/command/1", command=["true", "x" * 131_072])
        self.refused("/command", env={f"V{i}": "x" * 100_000 for i in range(11)})
        self.refused("/command", command=["true", *["x" * 100_000] * 11])
        many = {f"V{i}": "x" * 100_000 for i in range(9)}
        self.assertEqual("succeeded", self.server.run(["sh", "-c", "test ${#V8} = 100000"], env=many)["state"])

    def test_F35_bad_names_and_nul_are_refused_with_the_field(self):
        for name, pointer in (("", "/env/"), ("A B", "/env/A B"), ("A=B", "/env/A=B"), ("A\tB", "/env/A\tB"), ("A\nB", "/env/A\nB"), ("A/B\0", "/env/A~1B\0")):
            self.refused(pointer, env={name: "x"})
        self.refused("/env/V", env={"V": "a\0b"})
        self.refused("/command/0", command=["a\0b"])
        self.refused("/command/1", command=["true", "a\0b"])
        status, problem = self.server.refuse({"image": IMAGE, "script": "true\0"})
        self.assertEqual((400, "/script"), (status, problem["errors"][0]["pointer"]))
        for body, words in (('{"image": "x", "command": ["true"], "env": {"A": "1", "A": "2"}}', "A"),
                            ('{"image": "x", "command": ["true"], "command": ["false"]}', "command")):
            status, _, data = self.server.raw("POST", "/v1/tasks", body, {"Content-Type": "application/json"})
            self.assertEqual(400, status)
            self.assertIn(words, json.loads(data)["detail"])

    def test_F35_long_text_goes_by_file_or_stdin(self):
        prompt = "Tell me about $(id) and 日本. " * 8000
        self.assertGreater(len(prompt), 200_000)
        task = self.server.submit("sha256sum < p | cut -c 1-64; sha256sum | cut -c 1-64", inputs=[{"path": "p", "content": prompt}], stdin=prompt)
        self.assertEqual("succeeded", self.server.wait(task)["state"])
        self.assertEqual([sha256(prompt.encode())] * 2, self.server.logs(task).decode().split())

    def test_F35_nothing_of_it_is_shown_by_the_engine(self):
        canary = "canary-4f1d9c"
        task = self.server.submit(["sh", "-c", "cat >/dev/null; echo up; sleep 100000", canary], env={"CANARY": canary, canary: "x"}, stdin=canary,
                                  inputs=[{"path": canary, "content": canary}], labels={"label": canary}, outputs=[canary])
        self.server.wait_state(task, "running")
        name = self.server.sandbox_of(task)
        now = int(time.time())
        events = f"/events?since={now - 600}&until={now + 1}"
        for path in (f"/containers/{name}/json", f"/volumes/{name}-ws", "/containers/json?all=1", events):
            status, shown = self.engine.request("GET", path)
            self.assertEqual((200, True), (status, name.encode() in shown), path)
            self.assertNotIn(canary, shown.decode())
        self.server.cancel(task)
        self.server.wait(task)


class Files(ServerTest):
    def test_F32_what_was_delivered_is_there_before_the_first_instruction(self):
        data = bytes(range(256)) * 400
        inputs = [{"path": "a", "content": "text\n"}, {"path": "d/e/f/bytes", "content_base64": b64(data)}, {"path": "empty", "content": ""},
                  {"path": "d/run.sh", "content": "#!/bin/sh\necho ran\n", "mode": "0755"}, {"path": "secret", "content": "s", "mode": "0600"},
                  {"path": "sp ace/日本", "content": "odd"}]
        task = self.server.submit("find . -type f | sort; d/run.sh; sha256sum < d/e/f/bytes | cut -c 1-64; stat -c '%a %u' a d/run.sh secret; "
                                  "echo more >> a && cat a", inputs=inputs)
        self.assertEqual("succeeded", self.server.wait(task)["state"], self.server.logs(task, "both"))
        listing = "./a\n./d/e/f/bytes\n./d/run.sh\n./empty\n./secret\n./sp ace/日本\n"
        rest = f"ran\n{sha256(data)}\n644 65532\n755 65532\n600 65532\ntext\nmore\n"
        self.assertEqual(listing + rest, self.server.logs(task).decode())

    def test_F32_inputs_that_do_not_fit_fail_loudly(self):
        small = [{"path": f"f{i}", "content": "x" * 5000} for i in range(200)]
        task = self.server.submit("echo never", inputs=small, limits={"workspace": "1Mi"})
        shown = self.server.wait(task)
        self.assertEqual(("failed", b""), (shown["state"], self.server.logs(task)))
        self.assertNotIn(shown["reason"], ("exit_nonzero", "signal", None))
        self.assertIn("No space left", shown["message"])

    def test_F46_uploads_that_reach_outside_are_refused_as_a_whole(self):
        paths = ["../x", "/etc/x", "a/../../x", "a/./b", "a//b", "", ".", "..", "a/", "x\0y", "n" * 256, "d/" * 600 + "x"]
        for path in paths:
            inputs = [{"path": "good", "content": "g"}, {"path": path, "content": "b"}]
            status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "inputs": inputs})
            self.assertEqual((400, "/inputs/1/path"), (status, problem["errors"][0]["pointer"]), path[:20])
        for second in ("a", "a/b"):
            inputs = [{"path": "a", "content": "1"}, {"path": second, "content": "2"}]
            status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "inputs": inputs})
            self.assertEqual((400, "/inputs/1/path"), (status, problem["errors"][0]["pointer"]), second)
        for mode in ("4755", "1777", "0o644", "644 ", "rw-r--r--", 420):
            status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "inputs": [{"path": "a", "content": "1", "mode": mode}]})
            self.assertEqual((400, "/inputs/0/mode"), (status, problem["errors"][0]["pointer"]), mode)

    def test_inputs_are_a_mebibyte_and_not_a_byte_more(self):
        half = [{"path": name, "content": "x" * (1 << 19)} for name in "ab"]
        task = self.server.submit("cat a b | wc -c", inputs=half)
        self.assertEqual(b"1048576\n", self.server.logs(task) if self.server.wait(task)["state"] == "succeeded" else b"")
        status, problem = self.server.refuse({"image": IMAGE, "command": ["true"], "inputs": [*half, {"path": "c", "content": "x"}]})
        self.assertEqual((400, "/inputs"), (status, problem["errors"][0]["pointer"]))

    def test_stdin_ends_and_none_is_an_end_at_once(self):
        big = "line\n" * 100_000
        cases = [(self.server.submit(["wc", "-c"], stdin=big), b"500000"), (self.server.submit(["wc", "-c"]), b"0"),
                 (self.server.submit(["wc", "-c"], stdin=""), b"0"),
                 (self.server.submit("head -n 1; exec 0<&-; sleep 0.2; echo on", stdin=big), b"line\non")]
        for task, wanted in cases:
            self.assertEqual("succeeded", self.server.wait(task)["state"])
            self.assertEqual(wanted, self.server.logs(task).strip())

    def test_a_script_of_bytes_runs_as_it_is(self):
        script = b"printf '\xff\xfe'; exit 3\n"
        task = self.server.submit(script_base64=b64(script))
        self.assertEqual(("failed", 3), (lambda t: (t["state"], t["exit_code"]))(self.server.wait(task)))
        self.assertEqual(b"\xff\xfe", self.server.logs(task))


class Submits(ServerTest):
    def post(self, body, key=None, query=""):
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        status, answered, data = self.server.raw("POST", "/v1/tasks" + query, json.dumps(body), headers)
        return status, answered, json.loads(data)

    def all_ids(self):
        return {task["id"] for task in self.server.call("GET", "/v1/tasks?limit=200")["items"]}

    def test_the_same_key_gives_the_same_task(self):
        body = {"image": IMAGE, "command": ["sh", "-c", "exit 4"], "env": {"A": "1", "B": "2"}, "limits": {"memory": "64Mi"}}
        status, headers, first = self.post(body, "key-1")
        self.assertEqual((201, None), (status, headers.get("Idempotency-Replayed")))
        again = {"env": {"B": "2", "A": "1"}, "limits": {"memory": 64 << 20}, "kind": "command", "command": body["command"], "image": IMAGE}
        for same in (body, again):
            status, headers, shown = self.post(same, '"key-1"')
            self.assertEqual((201, "true", first["id"]), (status, headers["Idempotency-Replayed"], shown["id"]))
        self.server.wait(first["id"])
        status, headers, shown = self.post(body, "key-1")
        self.assertEqual((201, first["id"], "failed", f"/v1/tasks/{first['id']}"), (status, shown["id"], shown["state"], headers["Location"]))
        before = self.all_ids()
        status, _, problem = self.post({**body, "env": {"A": "1", "B": "3"}}, "key-1")
        self.assertEqual((422, "idempotency_mismatch"), (status, problem["code"]))
        self.assertEqual(before, self.all_ids())
        self.assertNotEqual(first["id"], self.post(body, "key-2")[2]["id"])
        self.assertNotEqual(first["id"], self.post(body)[2]["id"])
        for bad in ('""', "x" * 256, "a b", "\u00e4"):
            self.assertEqual(400, self.post(body, bad)[0], bad)

    def test_many_submits_with_one_key_at_once_are_one_task(self):
        body = {"image": IMAGE, "command": ["true"]}
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: self.post(body, "storm"), range(32)))
        self.assertEqual(({201}, 1), ({status for status, _, _ in answers}, len({shown["id"] for _, _, shown in answers})))
        self.assertEqual(1, sum(headers.get("Idempotency-Replayed") is None for _, headers, _ in answers))

    def test_a_dry_run_decides_and_keeps_nothing(self):
        before = self.all_ids()
        body = {"image": IMAGE, "command": ["true"], "limits": {"memory": "64Mi", "cpus": 0.5}, "env": {"A": "b"}}
        status, _, shown = self.post(body, query="?dry_run=true")
        self.assertEqual((200, 64 << 20, 0.5), (status, shown["limits"]["memory"], shown["granted"]["cpus"]))
        self.assertEqual({"A": "b"}, shown["spec"]["env"])
        status, _, problem = self.post({**body, "limits": {"memory": "1Ti"}}, query="?dry_run=true")
        self.assertEqual((422, "policy_denied"), (status, problem["code"]))
        status, _, _ = self.post(body, key="dry", query="?dry_run=true")
        self.assertEqual((200, before), (status, self.all_ids()))
        # The key was not used up.
        status, headers, _ = self.post({**body, "env": {}}, key="dry")
        self.assertEqual((201, None), (status, headers.get("Idempotency-Replayed")))

    def test_every_fault_of_a_spec_is_named_at_once(self):
        status, problem = self.server.refuse({"image": "", "command": [], "script": "x", "nmae": "n", "privileged": True, "env": {"A": 1}, "priority": 2000,
                                              "limits": {"memory": "much", "swap": 1}, "timeouts": {"run": 5}, "labels": {"-": "x"}, "working_dir": "rel"})
        found = {error["pointer"]: error["code"] for error in problem["errors"]}
        self.assertEqual(400, status)
        wanted = {"/image", "/command", "/nmae", "/privileged", "/env/A", "/priority", "/limits/memory", "/limits/swap", "/timeouts/run", "/labels/-",
                  "/working_dir"}
        self.assertEqual(wanted, set(found))
        self.assertEqual(("unknown_field", "forbidden_privileged", "wrong_type"), (found["/nmae"], found["/privileged"], found["/env/A"]))

    def test_yaml_is_taken_as_json_is(self):
        text = "image: " + IMAGE + "\ncommand: [sh, -c, 'echo $A; exit 5']\nenv: {A: 'yes'}\n"
        status, _, data = self.server.raw("POST", "/v1/tasks", text, {"Content-Type": "application/yaml"})
        self.assertEqual(201, status, data)
        task = json.loads(data)["id"]
        self.assertEqual(5, self.server.wait(task)["exit_code"])
        self.assertEqual(b"yes\n", self.server.logs(task))
        status, _, data = self.server.raw("POST", "/v1/tasks", "image: x\n\tbad", {"Content-Type": "application/yaml"})
        self.assertEqual(400, status)
        self.assertIn(":2:", json.dumps(json.loads(data)))


if __name__ == "__main__":
    unittest.main()

"""The server is told to stop while each of its calls to the engine is on its way: it ends cleanly, and the next one goes on."""

import pathlib
import sys
import unittest

from harness import Engine, ServerTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from engine_proxy import EngineProxy  # noqa: E402

CALLS = {
    "volume create": r"POST /v[0-9.]+/volumes/create",
    "container create": r"POST /v[0-9.]+/containers/create",
    "container inspect": r"GET /v[0-9.]+/containers/[^/]+/json\b(?!\?)",
    "attach": r"POST /v[0-9.]+/containers/[^/]+/attach",
    "start": r"POST /v[0-9.]+/containers/[^/]+/start",
    "container remove": r"DELETE /v[0-9.]+/containers/",
    "volume remove": r"DELETE /v[0-9.]+/volumes/",
}


class Shutdown(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.proxy = EngineProxy(cls.server.dir / "engine.sock", Engine().path)
        cls.addClassCleanup(cls.proxy.stop)
        cls.server.stop()
        cls.server.arguments += ["--engine", f"unix://{cls.proxy.path}"]
        cls.server.start()

    def check(self, call, what):
        self.proxy.hold(CALLS[call], what)
        task = self.server.submit("echo whole; exit 7")
        self.assertTrue(self.proxy.held.wait(60), f"{call} was never called")
        try:
            ended = self.server.stop()
        finally:
            self.proxy.release()
            self.server.log_file.rename(self.server.log_file.with_suffix(".last"))
            self.server.start()
        log = self.server.log_file.with_suffix(".last").read_text()
        self.assertEqual(0, ended, log)
        self.assertNotIn("trying again", log)
        shown = self.server.wait_gone(task)
        self.assertEqual(("failed", "exit_nonzero", 7), (shown["state"], shown["reason"], shown["exit_code"]), shown["message"])
        self.assertEqual(b"whole\n", self.server.logs(task))

    def test_a_stop_while_a_request_is_on_its_way(self):
        for call in CALLS:
            with self.subTest(call):
                self.check(call, "request")

    def test_a_stop_while_an_answer_is_on_its_way(self):
        for call in CALLS:
            with self.subTest(call):
                self.check(call, "answer")


if __name__ == "__main__":
    unittest.main()

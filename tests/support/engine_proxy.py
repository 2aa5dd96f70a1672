"""A Unix socket in front of the engine's that passes everything on, and can hold one call back.

Threads of this process; stop() ends them all.
"""

import re
import socket
import threading


class EngineProxy:
    def __init__(self, path, engine_path):
        self.path, self.engine_path = str(path), engine_path
        self.held = threading.Event()  # the call has come and is being held
        self._pattern, self._what = None, None
        self._let_go = threading.Event()
        self._lock = threading.Lock()
        self._open = set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self, pattern, what):
        """The next request whose line matches is held: `what` is "request" (the engine never sees it while it is held)
        or "answer" (the engine carries it out, and its answer is held)."""
        self.held.clear()
        self._let_go = threading.Event()
        self._pattern, self._what = re.compile(pattern.encode()), what

    def release(self):
        self._pattern = None
        self._let_go.set()

    def stop(self):
        self.release()
        self._listener.close()
        with self._lock:
            for connection in list(self._open):
                self._shut(connection)

    @staticmethod
    def _shut(connection):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(self.engine_path)
            with self._lock:
                self._open |= {client, engine}
            answers = threading.Event()
            answers.set()
            threading.Thread(target=self._requests, args=(client, engine, answers), daemon=True).start()
            threading.Thread(target=self._answers, args=(engine, client, answers), daemon=True).start()

    def _requests(self, client, engine, answers):
        # A request begins a piece: the client under test writes the head at once, and sends no two behind one another.
        while piece := self._receive(client):
            let_go = self._let_go
            if self._pattern and self._pattern.match(piece.split(b"\r\n")[0]):
                self._pattern = None
                if self._what == "answer":
                    answers.clear()
                    threading.Thread(target=lambda: (let_go.wait(), answers.set()), daemon=True).start()
                    self._send(engine, piece)
                    self.held.set()
                    continue
                self.held.set()
                let_go.wait()
            if not self._send(engine, piece):
                break
        self._end(client, engine)

    def _answers(self, engine, client, answers):
        while piece := self._receive(engine):
            answers.wait()
            if not self._send(client, piece):
                break
        self._end(engine, client)

    @staticmethod
    def _receive(connection):
        try:
            return connection.recv(65536)
        except OSError:
            return b""

    @staticmethod
    def _send(connection, piece):
        try:
            connection.sendall(piece)
            return True
        except OSError:
            return False

    def _end(self, own, other):
        """Each thread closes the connection that it reads from; the other's thread hears of it."""
        self._shut(other)
        with self._lock:
            self._open.discard(own)
        own.close()

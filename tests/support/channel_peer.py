"""The orchestrator's side of the channel for tests: carriers of raw attaches, and a peer that numbers, acknowledges, resends."""

import binascii
import json
import os
import select
import socket
import struct
import time

import channel_wire as wire

TURN_SECONDS = 0.25


class Carrier:
    """One attach to a container, over a connection of its own to the engine."""

    def __init__(self, engine_path, container):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(engine_path)
        self.socket.sendall(f"POST /containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\nHost: engine\r\n"
                            "Content-Length: 0\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n".encode())
        self.raw = b""
        while b"\r\n\r\n" not in self.raw:
            piece = self.socket.recv(4096)
            if not piece:
                raise AssertionError(f"no answer to attach: {self.raw!r}")
            self.raw += piece
        head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise AssertionError(f"attach: {head!r}")
        self.text = b""
        self.ended = False

    def send(self, data):
        self.socket.sendall(data)

    def close(self):
        self.socket.close()

    def lines(self, seconds=TURN_SECONDS):
        """The whole lines that have come, within a short while; the engine's frames are taken apart."""
        if not self.ended and select.select([self.socket], [], [], seconds)[0]:
            piece = self.socket.recv(256 * 1024)
            self.ended = not piece
            self.raw += piece
        while len(self.raw) >= 8:
            stream, size = self.raw[0], struct.unpack(">I", self.raw[4:8])[0]
            if len(self.raw) < 8 + size:
                break
            if stream == 1:
                self.text += self.raw[8:8 + size]
            self.raw = self.raw[8 + size:]
        *whole, self.text = self.text.split(b"\n")
        return [line for line in whole if line]


class Peer:
    """Speaks as docs/channel.md tells an orchestrator to. What was taken in order stands in `messages` as (number, method,
    params, payload); `plain` holds the rest. With `acknowledges` off, nothing is acknowledged."""

    def __init__(self):
        self.carrier = None
        self.epoch = 0
        self.nonce = ""
        self.acknowledges = True
        self.hellos, self.messages, self.plain, self.answers = [], [], [], {}
        self.unacknowledged = {}
        self.last_number = self.acknowledged = 0
        self.dropped = self.bad_lines = self.naks = 0

    @property
    def taken(self):
        return self.messages[-1][0] if self.messages else 0

    def open(self, carrier, epoch, got=None):
        """A new epoch over a carrier, up to the hello that answers it."""
        self.carrier, self.epoch, self.nonce = carrier, epoch, binascii.hexlify(os.urandom(8)).decode()
        if got is not None:
            self.messages = [m for m in self.messages if m[0] <= got]
        self.attach()
        self.until(lambda: self.hello is not None, again=self.attach, what="hello")
        self.resend(self.hello["got"])
        return self.hello

    @property
    def hello(self):
        return next((h for h in reversed(self.hellos) if h["nonce"] == self.nonce and h["e"] == self.epoch), None)

    def attach(self, epoch=None, nonce=None):
        self.carrier.send(b"\n" + wire.notification("attach", epoch or self.epoch, nonce=nonce or self.nonce, got=self.taken))

    def ask_hello(self):
        """Another hello of this epoch: everything sent before it was taken or dropped by then."""
        before = len(self.hellos)
        self.attach()
        self.until(lambda: len(self.hellos) > before, again=self.attach, what="another hello")
        return self.hellos[-1]

    # --- sending ---
    def send(self, method, payload=b"", **members):
        self.last_number += 1
        self.unacknowledged[self.last_number] = (method, payload, members)
        self.carrier.send(wire.notification(method, self.epoch, self.last_number, payload, **members))

    def put(self, to, data, **members):
        for at in range(0, max(len(data), 1), wire.MOST_PAYLOAD):
            self.send("put", data[at:at + wire.MOST_PAYLOAD], to=to, off=at, **members)

    def bind(self, attempt, spec):
        """Puts the spec (a dictionary) and binds it."""
        text = json.dumps(spec).encode()
        self.put("spec", text)
        self.send("bind", attempt=attempt, spec_bytes=len(text), spec_crc=wire.crc32c(text))

    def resend(self, got):
        for number in [n for n in self.unacknowledged if n <= got]:
            del self.unacknowledged[number]
        for number, (method, payload, members) in sorted(self.unacknowledged.items()):
            self.carrier.send(wire.notification(method, self.epoch, number, payload, **members))

    def acknowledge(self, got=None):
        self.acknowledged = self.taken if got is None else got
        self.carrier.send(wire.notification("ack", self.epoch, got=self.acknowledged))

    def request(self, method, **members):
        identity = len(self.answers) + 1
        def ask():
            self.carrier.send(wire.request(identity, method, self.epoch, **members))
        ask()
        self.until(lambda: identity in self.answers, again=ask, what=method)
        return self.answers[identity]

    # --- receiving ---
    def until(self, condition, seconds=60, again=None, what="condition"):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s; {len(self.messages)} messages, {self.plain[-3:]}")
            lines = self.carrier.lines()
            for line in lines:
                self.take(line)
            if self.acknowledges and self.messages and self.acknowledged < self.taken:
                self.acknowledge()
            if not lines and self.carrier.ended:
                raise AssertionError(f"{what}: the carrier ended")
            if not lines and again:
                again()

    def take(self, line):
        parsed = wire.parse(line)
        if parsed is None:
            self.bad_lines += 1
            return
        head, payload = parsed
        body = head.get("params") or head.get("result") or head.get("error", {}).get("data", {})
        if body.get("e") != self.epoch:
            self.dropped += 1
            return
        method, number = head.get("method"), body.get("n")
        if method == "hello":
            self.hellos.append(body)
        elif method == "ack":
            for n in [n for n in self.unacknowledged if n <= body["got"]]:
                del self.unacknowledged[n]
        elif method == "nack":
            self.naks += 1
            self.resend(body["got"])
        elif number is None and "id" in head:
            self.answers[head["id"]] = (body, payload, head.get("error"))
        elif number is None:
            self.plain.append((method, body))
        elif number == self.taken + 1:
            self.messages.append((number, method, body, payload))

    # --- what was said ---
    def said(self, method):
        return [body for _, name, body, _ in self.messages if name == method]

    def output(self, stream=1):
        """The bytes of a stream, whose offsets must fit."""
        out = bytearray()
        for _, method, body, payload in self.messages:
            if method == "out" and body["s"] == stream:
                if body["off"] != len(out):
                    raise AssertionError(f"out at {body['off']} behind {len(out)} bytes")
                out += payload
        return bytes(out)

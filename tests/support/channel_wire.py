"""Records of the channel between orchestrator and runner, written from docs/channel.md and not from the code under test."""

import json

MOST_PAYLOAD = 48 * 1024
MOST_RECORD = 64 * 1024


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def encode_cobs(payload):
    """Standard COBS without newlines in place of without zeros: codes are written XOR 0x0A."""
    out = bytearray()
    parts = payload.split(b"\n")
    for index, part in enumerate(parts):
        while len(part) >= 254:
            out.append(255 ^ 0x0A)
            out += part[:254]
            part = part[254:]
            if not part and index == len(parts) - 1:
                return bytes(out)
        out.append(len(part) + 1 ^ 0x0A)
        out += part
    return bytes(out)


def decode_cobs(encoded):
    out = bytearray()
    at = 0
    while at < len(encoded):
        code = encoded[at] ^ 0x0A
        if code == 0 or at + code > len(encoded):
            raise ValueError("no COBS")
        out += encoded[at + 1:at + code]
        at += code
        if code < 255 and at < len(encoded):
            out += b"\n"
    return bytes(out)


def record(head, payload=b""):
    body = json.dumps(head, separators=(",", ":")).encode()
    if payload:
        body += b"\0" + encode_cobs(payload)
    line = body + b"%08x\n" % crc32c(body)
    assert len(line) <= MOST_RECORD and b"\n" not in line[:-1]
    return line


def parse(line):
    """(head, payload) of a line without its newline; None when it is no record."""
    body, digits = line[:-8], line[-8:]
    if digits != b"%08x" % crc32c(body):
        return None
    head, _, encoded = body.partition(b"\0")
    try:
        return json.loads(head), decode_cobs(encoded)
    except ValueError:
        return None


def notification(method, epoch, number=None, payload=b"", **members):
    numbered = {} if number is None else {"n": number}
    return record({"jsonrpc": "2.0", "method": method, "params": {"e": epoch, **numbered, **members}}, payload)


def request(identity, method, epoch, **members):
    return record({"jsonrpc": "2.0", "id": identity, "method": method, "params": {"e": epoch, **members}})

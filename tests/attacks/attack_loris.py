"""Peers that never finish what they say: a time limit holds, and nobody else waits for them."""
import json
import os
import shutil
import socket
import sys
import tempfile
import time

import attack
from attack import PATIENCE, Program, duplex, eventually, python, time_bound, true

# Says one byte at a time, or nothing, and does not leave when its input ends.
SLOW = r"""
import sys, time
text = {"header": "Content-Length: 100000\r\n\r\n", "body": "Content-Length: 100000\r\n\r\n{", "line": '{"jsonrpc":"2.0",',
        "stray": "Hello\n", "silent": ""}[sys.argv[1]]
at = 0
while True:
    try:
        sys.stdout.write(text[at] if at < len(text) else " " if text else "")
        sys.stdout.flush()
    except OSError:
        pass
    at += 1
    time.sleep(0.2)
"""


LINE = ("call", "-f", "line", "x")
HEADER = ("call", "-f", "header", "x")
HANDSHAKE = ("call", "-p", "mcp", "tools/list")
MCP = ("mcp", "tools")


def end_in_time(seconds, pairs):
    """All of these side by side, since each takes 5 s."""
    programs = []
    try:
        for words, kind in pairs:
            argv = duplex(*words, "-t", "5s", "--stderr", "quiet", "--", *python(SLOW, kind))
            programs.append(Program(argv))
        for program in programs:
            code = program.wait(seconds)
            true(code in (5, 6), "%s: code %d: %s" % (program.argv[1:6], code, program.said()))
            program.is_sane()
    finally:
        for program in programs:
            program.__exit__(None, None, None)


def attack_loris_call():
    """A time limit ends it, in the handshake as well."""
    end_in_time(20, [(words, kind) for kind in ("header", "body", "line", "stray", "silent")
                     for words in (LINE, HEADER, HANDSHAKE, MCP)])


def attack_loris_alone_within_a_second():
    """-t 5s ends within 6 s."""
    end_in_time(6, [(LINE, "silent"), (HANDSHAKE, "line"), (MCP, "silent")])


def answers(address, text):
    """One client that asks, and the answer that it gets."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(time_bound(PATIENCE))
        client.connect(address)
        client.sendall(text)
        return client.recv(1 << 16)


def attack_loris_clients():
    """Clients that dribble half a message do not keep a server from the others."""
    place = tempfile.mkdtemp(prefix="attack-loris-")
    address = os.path.join(place, "socket")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}
    slow = []
    try:
        with Program(duplex("mcp", "serve", "files", place, "--listen", "unix:" + address)) as server:
            eventually(lambda: os.path.exists(address), "the server listens")
            for _ in range(50):
                client = socket.socket(socket.AF_UNIX)
                client.connect(address)
                client.sendall(b'{"jsonrpc":"2.0","id":1,')
                slow.append(client)
            for turn in range(10):
                for client in slow:
                    client.sendall(b" ")
                began = time.monotonic()
                true(b'"result"' in answers(address, json.dumps(hello).encode() + b"\n"), "no answer")
                true(time.monotonic() - began < time_bound(5), "turn %d was slow" % turn)
            server.is_sane()
    finally:
        for client in slow:
            client.close()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))

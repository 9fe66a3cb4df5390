"""Peers that never finish what they say: a time limit holds, and nobody else waits for them."""
import contextlib
import sys
import time

import attack
from attack import MB, Program, duplex, python, time_bound, true
from attack_sockets import finecode_serve, mcp_serve

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


def attack_loris_clients():
    """Clients that dribble half a message do not keep a server from the others."""
    for serve, half in ((lambda: mcp_serve(unix=True), b'{"jsonrpc":"2.0","id":1,'), (finecode_serve, b"Content-Length: 100"),
                        (finecode_serve, b"Content-Length: 100000\r\n\r\n{")):
        with serve() as server, contextlib.ExitStack() as connections:
            slow = [connections.enter_context(server.connect()) for _ in range(50)]
            for client in slow:
                client.sendall(half)
            for turn in range(10):
                for client in slow:
                    client.sendall(b"0" if half.endswith(b"100") else b" ")
                began = time.monotonic()
                server.works()
                true(time.monotonic() - began < time_bound(5), "turn %d was slow" % turn)
            server.below(60 * MB)
            server.is_sane()


if __name__ == "__main__":
    sys.exit(attack.main(globals()))

"""T14 to T22: processes under MCP, and their ends. See rows.py."""
import os
import signal
import socket
import sys
import time

import rows
from rows import Client, Server, best, children_of, is_gone, is_there, same, shown, true


def row_T14():
    """A peer that closes its end while we write ends the conversation, not the process."""
    with Server() as server:
        server.start()
        for _ in range(20):
            server.send(server.tool("big", size=1 << 20))
        server.more()
        os.close(server.read_fd)
        server.read_fd = os.open("/dev/null", os.O_RDONLY)
        code = server.ended()
        true(code in (0, 1), "the server ended with %d" % code)
    with Client() as client:
        guest = client.start()
        client.call("a", arguments={"text": "x" * (4 << 20)})
        guest.more()
        guest.leave()
        client.answer("a", "lost")
        client.event("closed")
    with Client() as client, socket.socket(socket.AF_UNIX) as door:
        door.bind(os.path.join(client.place, "door"))
        door.listen()
        client.do("open", address="unix:" + os.path.join(client.place, "door"))
        peer = rows.Socket(door.accept()[0])
        peer.accept()
        client.event("ready")
        client.call("a", arguments={"text": "x" * (4 << 20)})
        peer.more()
        peer.close()
        client.answer("a", "lost")
        client.event("closed")


def row_T15():
    """300 KB on the standard error stop nobody, and their end can be had."""
    with Client() as client:
        guest = client.start(errors_max=1000)
        client.call("a")
        asked = guest.news("tools/call")
        guest.write(b"".join(b"line %07d of many\n" % each for each in range(15000)) + b"the very last\n",
                    guest.errors_fd)
        guest.answer(asked)
        client.answer("a")
        client.event("errors", line="line 0014999 of many")
        client.event("errors", line="the very last")
        guest.leave(3)
        closed = client.event("closed")
        true(closed["errors"].endswith("the very last\n") and len(closed["errors"]) <= 1000, shown(closed["errors"]))
        same(closed["code"], 3, "its exit code")


def row_T16():
    """A child that exits ends all pending calls in less than 100 ms."""

    def measure():
        with Client() as client:
            guest = client.start()
            for each in range(50):
                client.call("a%d" % each)
            for _ in range(50):
                guest.news("tools/call")
            began = time.monotonic() * 1000
            guest.leave(5)
            last = max(client.answer("a%d" % each, "lost")["at"] for each in range(50))
            closed = client.event("closed")
            same((closed["by_us"], closed["was_ready"], closed["code"], closed["pending"]), (0, 1, 5, 0), "the end")
            true(closed["phrase"], "no reason")
            return last - began

    best(measure, 100)


def row_T17():
    """A child that closes its output but lives is over at once, and is made to leave."""
    with Client() as client:
        guest = client.start(close_ms=300)
        client.call("a")
        guest.news("tools/call")
        began = time.monotonic() * 1000
        os.close(guest.write_fd)
        guest.write_fd = None
        got = client.answer("a", "lost")
        true(got["at"] - began < 500, "%d ms" % (got["at"] - began))
        same(guest.frame(), None, "the end of its input")
        guest.leave()
        client.event("closed")


def row_T18():
    """A good child is gone in less than 50 ms, one that ignores its end gets SIGTERM, one that ignores that SIGKILL, in their time."""

    def good():
        with Client() as client:
            client.start_ours()
            began = time.monotonic() * 1000
            closed = client.close()
            same((closed["by_us"], closed["code"], closed["signal"]), (1, 0, 0), "a good one")
            return closed["at"] - began

    best(good, 50)
    with Client() as client:
        guest = client.start(close_ms=300, term_ms=400)
        began = time.monotonic()
        client.do("close")
        same(guest.frame(), None, "before the end of its input")
        guest.control.settimeout(rows.PATIENCE)
        same(guest.control.recv(1), b"T", "SIGTERM")
        took = time.monotonic() - began
        true(0.29 <= took < 0.29 + 0.4, "SIGTERM after %.3f s" % took)
        closed = client.event("closed")
        took = time.monotonic() - began
        true(0.69 <= took < 0.69 + 0.5, "SIGKILL after %.3f s" % took)
        same((closed["by_us"], closed["signal"]), (1, signal.SIGKILL), "the end")
        # The loop's guardian may be there; a zombie may not.
        true(all(is_there(each) for each in children_of(client.child.pid)), "a zombie is left")
        is_gone(guest.pid, "the server")


def row_T18_long():
    """The same with the times that nobody has set: SIGTERM after 2 s, SIGKILL after 4 s."""
    with Client() as client:
        guest = client.start()
        began = time.monotonic()
        client.do("close")
        guest.control.settimeout(rows.PATIENCE)
        same(guest.control.recv(1), b"T", "SIGTERM")
        took = time.monotonic() - began
        true(1.99 <= took < 2.5, "SIGTERM after %.3f s" % took)
        same(client.event("closed")["signal"], signal.SIGKILL, "the end")
        took = time.monotonic() - began
        true(3.99 <= took < 4.7, "SIGKILL after %.3f s" % took)


def row_T19():
    """A server behind `sh -c 'server & wait'` is gone after close, with all that it started."""
    with Client() as client:
        script = 'exec 3<&0; sleep 1000 & echo $! >&2; "$0" "$@" <&3 & echo $! >&2; wait'
        same(client.open(argv=["sh", "-c", script, *client.argv], close_ms=200, term_ms=200)["status"], "ok", "opening")
        guest = client.guest().accept()
        client.event("ready")
        pids = [int(client.event("errors")["line"]) for _ in range(2)]
        true(all(is_there(each) for each in pids), "they are not there")
        client.close()
        for each in pids:
            is_gone(each, "a grandchild")
        guest.leave()


def row_T20():
    """Our server is gone less than 100 ms after its input ends, also with tools and timers under way."""
    for busy in ((), ("sleep",), ("never",), ("deaf",), ("sleep", "never", "deaf", "sleep")):

        def measure(busy=busy):
            with Server() as server:
                server.start()
                for name in busy:
                    server.send(server.tool(name, ms=5000, name=name))
                server.is_alive("before the end")
                began = time.monotonic()
                server.close_write()
                true(server.ended() in (0, 1), "how it ends")
                took = (time.monotonic() - began) * 1000
                for name in busy:
                    server.wait_for("cancelled " + name)
                return took

        best(measure, 100)


def row_T21():
    """A command that is not there is told at once, with what the system said."""
    with Client() as client:
        began = time.monotonic()
        opened = client.open(argv=["/nonexistent/server"])
        true(time.monotonic() - began < 1, "it took %.1f s" % (time.monotonic() - began))
        same((opened["status"], opened["errno"]), ("system", 2), shown(opened))
        true("/nonexistent/server" in opened["phrase"], shown(opened))


def row_T22():
    """A server gets the small environment, what is added to it, or all of it."""
    ours = {"PATH": os.environ["PATH"], "HOME": "/h", "USER": "u", "SECRET": "s", "LD_X": "1"}
    for options, wanted, unwanted in (
        ({}, {"PATH=" + ours["PATH"], "HOME=/h", "USER=u"}, {"SECRET=s", "LD_X=1"}),
        ({"env": ["HOME=/other", "NEW=1"]}, {"HOME=/other", "NEW=1", "USER=u"}, {"SECRET=s", "HOME=/h"}),
        ({"inherit_env": True}, {"SECRET=s", "LD_X=1", "HOME=/h"}, set()),
    ):
        with Client(env=ours) as client:
            client.open(argv=["sh", "-c", "env >&2"], **options)
            closed = client.event("closed")
            lines = set(closed["errors"].split("\n"))
            true(wanted <= lines, "missing: %s" % (wanted - lines))
            true(not unwanted & lines, "too much: %s" % (unwanted & lines))


if __name__ == "__main__":
    sys.exit(rows.main(globals()))

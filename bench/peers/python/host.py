import os
import selectors
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from connection import Connection, Flood
from python_common import ask_once, fail, report, rss_kib, run_host, text_of


class Side:
    def __init__(self, echo):
        self.process = subprocess.Popen(
            echo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.connection = Connection(
            self.process.stdout.fileno(), self.process.stdin.fileno(), lambda params: params
        )

    def turn(self):
        if not self.connection.turn():
            fail("the echo program ended")

    def ask(self, params):
        answers = []
        self.connection.call(params, answers.append)
        while not answers:
            self.turn()
        return answers[0]

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            fail("the echo program did not leave with 0")
        self.process.stdout.close()


def flood(side_of, echo, count, inflight, size):
    text = text_of(size)
    side = side_of(echo)
    ask_once(side, text)
    begin = time.perf_counter()
    work = Flood(side.connection, count, inflight, text)
    while work.awaited:
        side.turn()
    seconds = time.perf_counter() - begin
    side.end()
    report(seconds=seconds)


def flush(selector, connection, full):
    """Watches a pipe without room, all of which are in `full`, until there is room again."""
    connection.flush()
    if connection.unsent and connection not in full:
        selector.register(connection.writer, selectors.EVENT_WRITE, connection)
        full.add(connection)
    elif connection in full and not connection.unsent:
        selector.unregister(connection.writer)
        full.remove(connection)


def children(side_of, echo, n, count, inflight, size):
    text = text_of(size)
    sides = [side_of(echo) for _ in range(n)]
    for side in sides:
        ask_once(side, text)
    selector = selectors.DefaultSelector()
    for side in sides:
        selector.register(side.connection.reader, selectors.EVENT_READ, side.connection)
    full = set()
    begin = time.perf_counter()
    works = [Flood(side.connection, count // n, inflight, text) for side in sides]
    for side in sides:
        flush(selector, side.connection, full)
    while any(work.awaited for work in works):
        for key, events in selector.select():
            if events & selectors.EVENT_READ and not key.data.receive():
                fail("an echo program ended")
            flush(selector, key.data, full)
    seconds = time.perf_counter() - begin
    rss = rss_kib()
    for side in sides:
        side.end()
    report(seconds=seconds, rss_kib=rss)


def both(side_of, echo, count, inflight, size):
    text = text_of(size)
    side = side_of(echo)
    ask_once(side, text)
    begin = time.perf_counter()
    work = Flood(side.connection, count, inflight, text)
    while work.awaited or side.connection.served < count:
        side.turn()
    side.connection.drain()
    seconds = time.perf_counter() - begin
    side.end()
    report(seconds=seconds)


run_host(Side, flood=flood, children=children, both=both)

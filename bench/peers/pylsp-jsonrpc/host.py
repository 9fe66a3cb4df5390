import os
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from flood import Flood
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter
from python_common import ask_once, fail, report, rss_kib, run_host, text_of


class Side:
    """An echo program, with a thread that reads what it sends.

    That thread writes too: requests, in the callbacks of answers, and answers. Were it to wait for
    room in a full pipe while that of the echo program does the same, both would wait forever. So
    with `queued` another thread writes; it counts the answers.
    """

    def __init__(self, echo, queued=False):
        self.process = subprocess.Popen(echo, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = JsonRpcStreamReader(self.process.stdout)
        self.writer = JsonRpcStreamWriter(self.process.stdin)
        self.ending = False
        consumer = self.writer.write
        if queued:
            self.messages = queue.SimpleQueue()
            self.answers = threading.Semaphore(0)
            consumer = self.messages.put
            threading.Thread(target=self.write, daemon=True).start()
        self.endpoint = Endpoint({"echo": lambda params: params}, consumer)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def write(self):
        while True:
            message = self.messages.get()
            self.writer.write(message)
            if "method" not in message:
                self.answers.release()

    def listen(self):
        self.reader.listen(self.endpoint.consume)
        if not self.ending:
            fail("the echo program ended")

    def ask(self, params):
        return self.endpoint.request("echo", params).result()

    def end(self):
        self.ending = True
        self.writer.close()
        if self.process.wait() != 0:
            fail("the echo program did not leave with 0")
        self.thread.join()
        self.process.stdout.close()
        self.endpoint.shutdown()


def needs_queue(inflight, size):
    """Whether all in flight may fill both pipes. A pipe has 16 pages; a small message is never cut,
    so that less than one stays free in each page."""
    page = 4096
    message = size + 110  # with the headers and an id that is a UUID
    return message >= page or inflight * message >= 2 * 16 * (page - message)


def flood(side_of, echo, count, inflight, size):
    text = text_of(size)
    side = side_of(echo, needs_queue(inflight, size))
    ask_once(side, text)
    begin = time.perf_counter()
    work = Flood(side.endpoint, count, text)
    work.begin(inflight)
    work.done.wait()
    seconds = time.perf_counter() - begin
    side.end()
    report(seconds=seconds)


def children(side_of, echo, n, count, inflight, size):
    text = text_of(size)
    sides = [side_of(echo, needs_queue(inflight, size)) for _ in range(n)]
    for side in sides:
        ask_once(side, text)
    works = [Flood(side.endpoint, count // n, text) for side in sides]
    begin = time.perf_counter()
    for work in works:
        work.begin(inflight)
    for work in works:
        work.done.wait()
    seconds = time.perf_counter() - begin
    rss = rss_kib()
    for side in sides:
        side.end()
    report(seconds=seconds, rss_kib=rss)


def both(side_of, echo, count, inflight, size):
    text = text_of(size)
    side = side_of(echo, queued=True)
    ask_once(side, text)
    begin = time.perf_counter()
    work = Flood(side.endpoint, count, text)
    work.begin(inflight)
    work.done.wait()
    for _ in range(count):
        side.answers.acquire()
    seconds = time.perf_counter() - begin
    side.end()
    report(seconds=seconds)


run_host(Side, flood=flood, children=children, both=both)

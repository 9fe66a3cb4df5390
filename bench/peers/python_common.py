"""What the hosts and echo programs in Python share: words, params, figures, and the workloads that
are the same in both. A `side` is a started echo program; it has ask(), end() and `process`."""

import json
import os
import sys
import time

EMPTY = '{"jsonrpc":"2.0","id":100000,"method":"echo","params":{"line":12,"ok":true,"text":""}}'

ARGUMENTS = {"latency": 2, "flood": 3, "document": 2, "children": 4, "start": 1, "both": 3}


def fail(message, code=1):
    # Not sys.exit(): other threads may still run, and this may be called in one of them.
    print(message, file=sys.stderr, flush=True)
    os._exit(code)


def text_of(size):
    """As many `a` as make a whole request `size` bytes long."""
    return "a" * (size - len(EMPTY))


def params_of(text):
    return {"line": 12, "ok": True, "text": text}


def check(answer, text):
    if len(answer["text"]) != len(text):
        fail("an answer has the wrong text")


def host_words():
    """The workload, its arguments, and how the echo program is started."""
    workload = sys.argv[1] if len(sys.argv) > 1 else ""
    count = ARGUMENTS.get(workload)
    if count is None or sys.argv[2 + count : 3 + count] != ["--"] or len(sys.argv) < 4 + count:
        fail("usage: host WORKLOAD ARGUMENTS... -- ECHO ARGUMENTS...")
    words = sys.argv[2 : 2 + count]
    if workload != "document":
        words = [int(word) for word in words]
    return workload, words, sys.argv[3 + count :]


def echo_words():
    """COUNT, INFLIGHT and SIZE of `both`, or None."""
    if len(sys.argv) == 1:
        return None
    if len(sys.argv) != 5 or sys.argv[1] != "both":
        fail("usage: echo [both COUNT INFLIGHT SIZE]")
    return [int(word) for word in sys.argv[2:]]


def percentile(samples, percent):
    return sorted(samples)[(len(samples) - 1) * percent // 100]


def rss_kib(pid="self"):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def report(**figures):
    print(json.dumps(figures))


def ask_once(side, text):
    check(side.ask(params_of(text)), text)


def latency(side_of, echo, count, size):
    side = side_of(echo)
    text = text_of(size)
    for _ in range(count // 10):
        ask_once(side, text)
    samples = []
    begin = time.perf_counter()
    for _ in range(count):
        since = time.perf_counter()
        ask_once(side, text)
        samples.append((time.perf_counter() - since) * 1e6)
    seconds = time.perf_counter() - begin
    side.end()
    report(seconds=seconds, p50_us=percentile(samples, 50), p99_us=percentile(samples, 99))


def document(side_of, echo, file, times):
    with open(file, "rb") as content:
        params = json.loads(content.read())
    side = side_of(echo)
    # All of the document is compared once, and its outline every time.
    if side.ask(params) != params:
        fail("the answer is not the document")
    samples = []
    for _ in range(int(times)):
        begin = time.perf_counter()
        answer = side.ask(params)
        samples.append(time.perf_counter() - begin)
        if len(answer) != len(params):
            fail("the answer is not the document")
    side.end()
    report(seconds=sum(samples), ms=percentile(samples, 50) * 1e3)


def start(side_of, echo, times):
    text = text_of(100)
    samples = []
    for i in range(times):
        begin = time.perf_counter()
        side = side_of(echo)
        ask_once(side, text)
        samples.append((time.perf_counter() - begin) * 1e3)
        if i == times - 1:
            time.sleep(0.1)
            idle = rss_kib(side.process.pid)
        side.end()
    report(ms=percentile(samples, 50), idle_kib=idle)


def run_host(side_of, **workloads):
    """`workloads` are those that differ from host to host."""
    workload, arguments, echo = host_words()
    workloads.update(latency=latency, document=document, start=start)
    try:
        workloads[workload](side_of, echo, *arguments)
    except Exception as error:
        fail(f"{type(error).__name__}: {error}")

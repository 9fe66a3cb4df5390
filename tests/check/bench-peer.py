"""bench-peer.py MODE [NUMBER] [WORD...]: a peer whose costs are known, in line framing. Every request is
answered with its number, counted from 1, or as MODE says:
  delay N     after N ms
  rare N      every 50th after N ms
  refuse      with an error; refuse N: every Nth
  drop N      not at all from the Nth on;  skip N: every Nth
  die N       by leaving with code 9 instead of the Nth answer;  close N: so, but only the output is closed
  bad N       every Nth with both result and error
  stray N     with more text that is no message than anybody reads, instead of the Nth answer
  noise       behind a message that is none
  reverse     together with what else has come for 10 ms, the last first
  grow N      and N KiB more are held from then on
  burn N      after N ms of work
  hire N      after a child has worked for N ms and left
  family N    at once, but a child that holds N MiB was started first
  start N     at once, but only N ms after the start; a line for each start goes into the file `started`
Other words are for whoever looks for the process."""

import json
import os
import select
import sys
import time

mode = sys.argv[1]
number = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 0
held = []
count = 0
pending = b""


def every(n):
    return n and count % n == 0


def write(message):
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def read(wait):
    """The requests that have come; None at the end of the input, [] if nothing comes for so long."""
    global pending
    while b"\n" not in pending:
        if wait is not None and not select.select([0], [], [], wait)[0]:
            return []
        data = os.read(0, 65536)
        if not data:
            return None
        pending += data
    lines, _, pending = pending.rpartition(b"\n")
    return [json.loads(line) for line in lines.split(b"\n")]


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def answer(request):
    global count
    count += 1
    ms = number / 1000
    if mode == "delay" or (mode == "rare" and every(50)):
        time.sleep(ms)
    elif mode == "burn":
        work(ms)
    elif mode == "hire":
        child = os.fork()
        if child == 0:
            work(ms)
            os._exit(0)
        os.waitpid(child, 0)
    elif mode == "grow":
        held.append(b"x" * (number * 1024))
    elif mode == "stray" and count == number:
        os.write(1, b"no\n" * 2000)
        time.sleep(30)
    elif mode == "noise":
        os.write(1, b'{"jsonrpc":"2.0","id":{},"method":5}\n')
    elif (mode == "drop" and count >= number) or (mode == "skip" and every(number)):
        return
    elif mode == "die" and count == number:
        os._exit(9)
    elif mode == "close" and count == number:
        os.close(1)
        time.sleep(30)
    if mode == "refuse" and (not number or every(number)):
        write({"id": request["id"], "error": {"code": 77, "message": "no\x1b[31m, \u202enever"}})
    elif mode == "bad" and every(number):
        write({"id": request["id"], "result": 1, "error": {"code": 1, "message": ""}})
    else:
        write({"id": request["id"], "result": count})


def gather(requests):
    while True:
        more = read(0.01)
        if not more:
            return requests[::-1]
        requests += more


if mode == "family":
    here, there = os.pipe()
    if os.fork() == 0:
        held.append(b"x" * (number << 20))
        os.write(there, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(here, 1)
if mode == "start":
    with open("started", "a", encoding="ascii") as file:
        file.write("started\n")
    time.sleep(number / 1000)
while (requests := read(None)) is not None:
    if mode == "reverse":
        requests = gather(requests)
        if len(requests) > 1:
            sys.stderr.write(f"reversed {len(requests)}\n")
    for request in requests:
        if "id" in request and "method" in request:
            answer(request)

#!/usr/bin/env python3
"""A peer for the checks of duplex repl, in lines: repl-peer.py [WORD...]. What it answers:

    echo PARAMS                    the params
    hold {"count": N}              nothing, until N such requests are here; then all, the last one first
    asks {"count": N, "bytes": M}  sends N requests of M bytes each (or of their own length, if that is more);
                                   answers with the answers, when all are here
    later {"ms": N, "message": M}  null; and so many ms afterwards that message, as it is
    pid                            its process id
    seen                           the messages that came which were no request of these
    leave {"code": N}              null, then leaves
    steer                          texts that would steer a terminal, in every place where there may be one
"""

import json
import os
import sys
import threading
import time

lock = threading.Lock()
held, seen, answers = [], [], {}
ESCAPE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"


def write(message):
    with lock:
        sys.stdout.write((message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)) + "\n")
        sys.stdout.flush()


def reply(number, result):
    write({"jsonrpc": "2.0", "id": number, "result": result})


def later(params):
    time.sleep(params["ms"] / 1000)
    write(params["message"])


def hold(number, params):
    held.append(number)
    if len(held) == params["count"]:
        for one in reversed(held):
            reply(one, one)


def asks(number, params):
    answers.clear()
    answers["wanted"] = (number, params["count"])
    for i in range(params["count"]):
        text = json.dumps({"jsonrpc": "2.0", "id": f"a{i}", "method": "question", "params": {"i": i, "pad": ""}})
        pad = "p" * (params.get("bytes", 0) - len(text))
        write(text.replace('"pad": ""', f'"pad": "{pad}"'))


def take_answer(message):
    answers[message["id"]] = message.get("result", message.get("error"))
    number, count = answers["wanted"]
    if len(answers) == count + 1:
        reply(number, [answers[f"a{i}"] for i in range(count)])


def steer(number):
    write({"jsonrpc": "2.0", "method": "note" + ESCAPE, "params": [ESCAPE]})
    write("stray " + ESCAPE)
    sys.stderr.write("errors " + ESCAPE + "\n")
    sys.stderr.flush()
    write({"jsonrpc": "2.0", "id": "unasked" + ESCAPE, "result": ESCAPE})
    write({"jsonrpc": "2.0", "id": "q" + ESCAPE, "method": "question" + ESCAPE, "params": {ESCAPE: ESCAPE}})
    write({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": ESCAPE, "data": {ESCAPE: ESCAPE}}})


def take(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params")
    if method == "echo":
        reply(number, params)
    elif method == "hold":
        hold(number, params)
    elif method == "asks":
        asks(number, params)
    elif method == "later":
        threading.Thread(target=later, args=(params,), daemon=True).start()
        reply(number, None)
    elif method == "pid":
        reply(number, os.getpid())
    elif method == "seen":
        reply(number, seen)
    elif method == "leave":
        reply(number, None)
        os._exit(params["code"])
    elif method == "steer":
        steer(number)
    elif method is None and number in [f"a{i}" for i in range(answers.get("wanted", (0, 0))[1])]:
        take_answer(message)
    else:
        seen.append(message)


def main():
    for line in sys.stdin:
        try:
            take(json.loads(line))
        except ValueError:
            seen.append(line.rstrip("\n"))


main()

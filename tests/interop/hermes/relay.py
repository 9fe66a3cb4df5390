#!/usr/bin/env python3
"""A wire that is in the way: starts an extension and carries what it and its editor say.

    relay.py bytes CMD ARG...            one byte at a time, the next one when that has been read
    relay.py cut CMD ARG...              in pieces that end inside of every character beyond ASCII
    relay.py METHOD>EVENT CMD ARG...     the extension's request METHOD waits until EVENT has come to it

It ends as the extension does."""

import array
import fcntl
import json
import os
import re
import subprocess
import sys
import termios
import threading
import time


def pour(sink, data):
    while data:
        data = data[os.write(sink, data):]


def settle(sink):
    """Waits until the other side has read everything, for a second at most."""
    left = array.array("i", [0])
    for _ in range(20000):
        try:
            # Of a pipe that is what waits in it; a socket tells it by the other call.
            fcntl.ioctl(sink, termios.FIONREAD if is_pipe(sink) else termios.TIOCOUTQ, left)
        except OSError:
            return
        if left[0] == 0:
            return
        time.sleep(0.00005)


def is_pipe(sink):
    return os.readlink(f"/proc/self/fd/{sink}").startswith("pipe:")


def single(source, sink, _):
    while data := os.read(source, 65536):
        for at in range(len(data)):
            pour(sink, data[at:at + 1])
            settle(sink)


def cut(source, sink, _):
    while data := os.read(source, 65536):
        # What is beyond ASCII falls apart behind the first byte of each character.
        for piece in re.findall(rb"[\xc0-\xff]|[\x80-\xbf]+|[\x00-\x7f]+", data):
            pour(sink, piece)
            settle(sink)


def frames(source):
    with os.fdopen(os.dup(source), "rb") as file:
        while line := file.readline():
            head = line
            while line not in (b"\r\n", b""):
                line = file.readline()
                head += line
            length = int(re.search(rb"Content-Length: *(\d+)", head)[1])
            body = file.read(length)
            yield json.loads(body).get("method"), head + body


def hold(method, event):
    come = threading.Event()

    def carry(source, sink, to_extension):
        for name, frame in frames(source):
            if not to_extension and name == method:
                come.wait(20)
            pour(sink, frame)
            if to_extension and name == event:
                settle(sink)
                come.set()
    return carry


def main(mode, *command):
    carry = {"bytes": single, "cut": cut}.get(mode) or hold(*mode.split(">"))
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def there():
        try:
            carry(0, child.stdin.fileno(), True)
        except BrokenPipeError:
            pass
        child.stdin.close()

    threading.Thread(target=there, daemon=True).start()
    try:
        carry(child.stdout.fileno(), 1, False)
    except BrokenPipeError:
        pass
    os._exit(child.wait() & 255)


main(*sys.argv[1:])

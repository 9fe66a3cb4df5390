#!/usr/bin/env python3
"""A port for programs that only know stdio, since the document knows no other way. Says nothing of its own in between.

    seed_tcp.py listen WORD...     runs WORD..., and joins its stdio to the first connection to a port that is printed
    seed_tcp.py connect WORD...    runs WORD..., and joins its own stdio to the port that WORD... prints
"""
import os
import re
import signal
import socket
import subprocess
import sys
import threading


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


def copy(read, write, end):
    while True:
        data = read(65536)
        if not data:
            break
        try:
            write(data)
        except OSError:
            break
    end()


def main():
    way, at = sys.argv[1], 2
    words = [sys.executable, *sys.argv[at:]] if sys.argv[at].endswith(".py") else sys.argv[at:]
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdin=pipe if way == "listen" else subprocess.DEVNULL, stdout=pipe, bufsize=0)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    if way == "listen":
        listener = socket.create_server(("127.0.0.1", 0))
        print("Serving on ('127.0.0.1', %d)" % listener.getsockname()[1], flush=True)
        peer, _ = listener.accept()
        listener.close()
        pairs = [(peer.recv, child.stdin.write, child.stdin.close),
                 (child.stdout.read, peer.sendall, lambda: peer.shutdown(socket.SHUT_WR))]
    else:
        port = next(int(found[1]) for found in (re.search(rb"Serving on \('[\d.]+', (\d+)\)", line) for line in child.stdout) if found)
        peer = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=child.stdout.read, daemon=True).start()
        pairs = [(lambda size: os.read(0, size), peer.sendall, lambda: peer.shutdown(socket.SHUT_WR)),
                 (peer.recv, lambda data: write_all(1, data), lambda: os.close(1))]
    threads = [threading.Thread(target=copy, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    code = child.wait()
    threads[1].join()
    sys.exit(code)


if __name__ == "__main__":
    main()

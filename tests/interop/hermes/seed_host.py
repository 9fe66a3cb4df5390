#!/usr/bin/env python3
"""A host written from the document alone, see seed.py: it starts an extension and checks that it answers as JSON-RPC 2.0
says.

    seed_host.py WAY PROGRAM GIVEN [--cut]

WAY is how it writes, see WAYS. GIVEN is JSON with what the document leaves open: the params of its notifications and
the results of the extension's requests by method; "$asks" and "$then" are the requests that come of a command, and of
a notification that comes in the middle of it. With --cut, the input just ends. It prints each request that came.
"""
import collections
import json
import subprocess
import sys

sys.dont_write_bytecode = True
from seed import INVALID_REQUEST, METHOD_NOT_FOUND, Malformed, Peer, Stream

IDS = ("", "a string: å中😀", 0, -7, 9007199254740991)
# The document's sample.
ERROR = {"code": INVALID_REQUEST, "message": "Invalid Request", "data": "Missing required field: method"}


class Host(Peer):
    def __init__(self, way, program, given):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        super().__init__(Stream(self.process.stdout, self.process.stdin.fileno(), way))
        self.given = json.loads(given)
        self.asked, self.wanted, self.met, self.fails = [], None, None, False

    def notify(self, method):
        return dict({"method": method}, params=self.given[method]) if method in self.given else {"method": method}

    def handle(self, message):
        assert "id" in message, "no notification of an extension is known: %r" % message
        self.asked.append(message["method"])
        print(json.dumps(message), flush=True)
        if message["method"] not in self.given:
            self.unknown(message)
        elif self.fails:
            self.stream.write({"id": message["id"], "error": ERROR})
        elif self.wanted and collections.Counter(self.asked) == self.wanted:
            # Its last request waits for a response. What comes before that: a request with the same id, since the ids
            # of the two directions have nothing to do with each other, and a notification.
            self.wanted = None
            request = self.request("no such method", {}, identity=message["id"])
            self.stream.write(request, self.notify("window/closed"), self.answer(message))
            self.met = message["id"]
        else:
            self.stream.write(self.answer(message))

    def answer(self, message):
        return {"id": message["id"], "result": self.given[message["method"]]}

    def until_asked(self, methods):
        while collections.Counter(self.asked) != collections.Counter(methods):
            assert len(self.asked) <= len(methods), "it asked for %r" % self.asked
            assert self.next(), "it ended"
        self.asked = []


def play(host):
    # The samples of the document.
    host.stream.write({"id": 1, "method": "initialize", "params": {}}, {"method": "initialized"})
    assert "result" in host.wait(1)
    host.last = 1
    host.stream.write(*(host.request("no such method", {}, identity=identity) for identity in IDS))
    for identity in reversed(IDS):
        assert host.wait(identity)["error"]["code"] == METHOD_NOT_FOUND
    host.stream.write({"method": "no such notification"})
    host.send_malformed()

    # A command, with traffic in both directions at once.
    host.wanted = collections.Counter(host.given["$asks"])
    host.stream.write(host.notify("command/execute"))
    host.until_asked(host.given["$asks"])
    assert host.wait(host.met)["error"]["code"] == METHOD_NOT_FOUND
    host.until_asked(host.given["$then"])

    # An error is a response, too, and not the end.
    host.fails = True
    host.stream.write(host.notify("command/execute"))
    while not host.asked:
        assert host.next(), "it ended"
    assert host.call("no such method", {})["error"]["code"] == METHOD_NOT_FOUND


def main(way, program, given, *options):
    host = Host(way, program, given)
    try:
        play(host)
        if not options:
            assert "result" in host.call("shutdown")
        host.process.stdin.close()
        if options:
            while host.next():
                pass
        assert host.stream.read() is None, "something came after the end"
        assert host.process.wait(20) == 0
        assert not host.responses, "nobody asked for %r" % host.responses
    finally:
        host.process.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""An extension written from the document alone, see seed.py.

    seed_extension.py WAY FROM TO [--malformed]

WAY is how it writes, see WAYS. It reads the message with the document's sample request, exchanges the text FROM for TO
in it, and does the rest with what SEED_GIVEN has, a JSON file: the results of initialize and shutdown, and the params of
the requests whose params the document does not show, with "$" for the message. It logs what it gets.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from seed import METHOD_NOT_FOUND, Malformed, Peer, Stream

MANY = 20
REQUESTS = ("editor/setMessage", "editor/patchMessage", "ui/openWindow")


def log(text):
    sys.stderr.buffer.write(("seed: %s\n" % text).encode())
    sys.stderr.buffer.flush()


def filled(value, message):
    if isinstance(value, dict):
        return {key: filled(item, message) for key, item in value.items()}
    return message if value == "$" else value


class Extension(Peer):
    def __init__(self, way, old, new, *options):
        super().__init__(Stream(sys.stdin.buffer, 1, way))
        self.old, self.new, self.malformed = old, new, bool(options)
        with open(os.environ["SEED_GIVEN"], encoding="utf-8") as file:
            self.given = json.load(file)
        self.commands = 0

    def handle(self, message):
        method = message["method"]
        if "id" in message and method in ("initialize", "shutdown"):
            log(method)
            self.stream.write({"id": message["id"], "result": self.given[method]})
        elif "id" not in message and method == "command/execute":
            # Also while another one is at work, which then does this one, too.
            self.commands += 1
        elif "id" not in message:
            log(method)
        else:
            self.unknown(message)

    def read_message(self):
        response = self.call("editor/getMessage", {"format": "json"})
        return response["result"]["message"]

    def work(self):
        text = self.read_message()
        document = json.loads(text)
        # As in the sample; other forms are not in the document.
        if "MSH" in document:
            assert document["MSH"]["1"] == "|" and document["MSH"]["2"] == "^~\\&", text
            log("the form of the sample")
        if self.malformed:
            self.send_malformed()
        # Many at once, with numbers and strings as ids, and among them one that nobody knows and a notification.
        many = [self.request("editor/getMessage", {"format": "json"}, identity=identity)
                for number in range(MANY) for identity in (1000 + number, "ønske %d" % number)]
        unknown = self.request("no such method", {})
        self.stream.write(*many[:MANY], {"method": "no such notification"}, unknown, *many[MANY:])
        for message in reversed(many):
            assert self.wait(message["id"])["result"]["message"] == text, "another message"
        assert self.wait(unknown["id"])["error"]["code"] == METHOD_NOT_FOUND
        assert self.old in text, "%r is not in %r" % (self.old, text)
        for method in REQUESTS:
            if method in self.given:
                response = self.call(method, filled(self.given[method], text.replace(self.old, self.new)))
                log("%s: %s" % (method, json.dumps(response.get("result", response.get("error")))))
        assert self.new in self.read_message(), "the message is as it was"
        log("all done")


def main():
    extension = Extension(*sys.argv[1:])
    while extension.next():
        while extension.commands:
            extension.commands -= 1
            extension.work()
    assert not extension.responses, "nobody asked for %r" % extension.responses
    log("the end")


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, KeyError, Malformed) as failure:
        log("failed: %r" % failure)
        sys.exit(9)

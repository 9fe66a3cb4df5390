"""Messages as the document of the Hermes Extension API describes them, and as JSON-RPC 2.0 does, to which it refers.
Written from these two texts alone: nothing here comes from Duplex or from the real program. The document names methods
and shows a few samples; what else a method takes or returns comes from whoever uses this.
"""
import json
import os

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601  # of JSON-RPC 2.0

# The ways in which the bytes of several messages may be written.
WAYS = {
    "--whole": lambda frames: frames,
    "--together": lambda frames: [b"".join(frames)],
    "--bytes": lambda frames: [b"%c" % byte for byte in b"".join(frames)],
    # Pieces that end anywhere: in the header, in a character, behind a part of the next message.
    "--pieces": lambda frames: [b"".join(frames)[at:at + 7] for at in range(0, len(b"".join(frames)), 7)],
}

# What is not a message, the code of the error, and the id that it has in the response: null if it cannot be read.
MALFORMED = (
    (b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":8,"method":"\xc3"}', PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","method":1,"params":{}}', INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":31,"params":{}}', INVALID_REQUEST, 31),
)


class Malformed(Exception):
    pass


class Stream:
    def __init__(self, source, sink, way):
        self.source, self.sink, self.cut = source, sink, WAYS[way]

    def read(self):
        """The JSON text of a message; None at the end."""
        length = None
        while (line := self.source.readline()) != b"\r\n":
            if not line and length is None:
                return None
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
            elif not line.endswith(b"\r\n"):
                raise Malformed("not a header: %r" % line)
        content = self.source.read(length)
        if len(content) != length:
            raise Malformed("%d of %d bytes" % (len(content), length))
        return content

    def write_contents(self, *contents):
        for data in self.cut([b"Content-Length: %d\r\n\r\n" % len(content) + content for content in contents]):
            while data:
                data = data[os.write(self.sink, data):]

    def write(self, *messages):
        # Characters beyond ASCII as themselves: a length counts bytes.
        self.write_contents(*(json.dumps(dict({"jsonrpc": "2.0"}, **message), ensure_ascii=False).encode()
                              for message in messages))


def is_id(value):
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def kind_of(message):
    """request, notification or response, as the interfaces of the document say; anything else is Malformed."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Malformed("no version: %r" % message)
    if "method" in message:
        good = isinstance(message["method"], str) and isinstance(message.get("params", {}), dict)
        good = good and "result" not in message and "error" not in message and is_id(message.get("id", 0))
        kind = "request" if "id" in message else "notification"
    else:
        good = "id" in message and ("result" in message) != ("error" in message)
        error = message.get("error", {"code": 0, "message": ""})
        good = good and isinstance(error, dict) and isinstance(error.get("code"), int)
        good = good and isinstance(error.get("message"), str)
        # Null if the id of the request could not be determined.
        good = good and (is_id(message["id"]) or (message["id"] is None and "error" in message))
        kind = "response"
    if not good:
        raise Malformed("not a %s: %r" % (kind, message))
    return kind


class Peer:
    """Both sides: requests that are pending, by id, and incoming messages in any order."""

    def __init__(self, stream):
        self.stream, self.last, self.responses = stream, 0, []

    def request(self, method, *params, identity=None):
        self.last += 1
        message = {"id": self.last if identity is None else identity, "method": method}
        return dict(message, params=params[0]) if params else message

    def next(self):
        """Reads a message: a response is kept, everything else is handled. False at the end."""
        content = self.stream.read()
        if content is None:
            return False
        message = json.loads(content.decode())
        kind = kind_of(message)
        if kind == "response":
            self.responses.append(message)
        else:
            self.handle(message)
        return True

    def wait(self, identity):
        """The response to the request with this id, of this type."""
        while True:
            for message in self.responses:
                if message["id"] == identity and isinstance(message["id"], type(identity)):
                    self.responses.remove(message)
                    return message
            if not self.next():
                raise Malformed("the end came before the response to %r" % identity)

    def call(self, method, *params):
        message = self.request(method, *params)
        self.stream.write(message)
        return self.wait(message["id"])

    def send_malformed(self):
        for content, code, identity in MALFORMED:
            self.stream.write_contents(content)
            response = self.wait(identity)
            assert response["error"]["code"] == code, "%r: %r" % (content, response)

    def unknown(self, message):
        """Nobody responds to a notification."""
        if "id" in message:
            error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
            self.stream.write({"id": message["id"], "error": error})

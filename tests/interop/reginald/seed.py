"""Messages as the document of the Reginald Plugin Protocol describes them, version 0, and as JSON-RPC 2.0 does, to
which it refers. Written from these two texts alone: nothing here comes from Duplex or from the real program. The
document names no method but handshake, so what methods mean comes from whoever uses this.
"""
import json
import os
import re

# <field name> ":" <optional whitespace> <field value> "\r\n", with any ASCII but CR and LF in the value.
FIELD = re.compile(rb"([A-Za-z-]+):( *)([\x00-\x09\x0b\x0c\x0e-\x7f]*)\r\n")

# Header parts that the grammar allows.
FORMS = (
    b"Content-Length: %d\r\n\r\n",
    b"Content-Length:%d\r\n\r\n",
    b"Content-Length:      %d\r\n\r\n",
    b"Some-Other-Field: any ASCII token \x01\x08\x1b[0m\x7f\t:~\r\nContent-Length: %d\r\n\r\n",
    b"Content-Length: %d\r\n---:\r\nx:\x00\r\n\r\n",
)


class Malformed(Exception):
    pass


class Stream:
    def __init__(self, source, sink):
        self.source, self.sink, self.written = source, sink, 0

    def read(self):
        """The content part of a message; None at the end."""
        length, first = None, True
        while True:
            line = self.source.readline()
            if first and not line:
                return None
            if line == b"\r\n" and not first:
                break
            field = FIELD.fullmatch(line)
            if not field:
                raise Malformed("no header field: %r" % line)
            if field[1].lower() == b"content-length":
                length = int(field[3])
            first = False
        if length is None:
            raise Malformed("Content-Length is required")
        content = self.source.read(length)
        if len(content) != length:
            raise Malformed("%d of %d bytes" % (len(content), length))
        return content

    def write_content(self, content):
        data = FORMS[self.written % len(FORMS)] % len(content) + content
        self.written += 1
        while data:
            data = data[os.write(self.sink, data):]

    def write(self, message):
        # As the example of the document: over several lines, with tabs.
        self.write_content(json.dumps({"jsonrpc": "2.0", **message}, indent="\t").encode())


def is_id(value):
    return value is None or isinstance(value, (str, int, float)) and not isinstance(value, bool)


def kind_of(message):
    """request, notification or response, by JSON-RPC 2.0; None: none of them."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if "method" in message:
        good = isinstance(message["method"], str) and isinstance(message.get("params", {}), (dict, list))
        good = good and "result" not in message and "error" not in message and is_id(message.get("id"))
        return ("request" if "id" in message else "notification") if good else None
    if "id" not in message or not is_id(message["id"]) or ("result" in message) == ("error" in message):
        return None
    error = message.get("error", {"code": 0, "message": ""})
    good = isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return "response" if good else None

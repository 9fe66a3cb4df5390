#!/usr/bin/env python3
"""A client written from the document of the protocol alone, see seed.py: it starts a plugin ("server") and checks that
it answers as JSON-RPC 2.0 says, whatever form of header it is sent.

    seed_host.py PROGRAM PARAMS END

The document's example calls handshake and leaves its params open: they are PARAMS. END is the notification that ends
the program.
"""
import json
import subprocess
import sys

sys.dont_write_bytecode = True
from seed import FORMS, Stream, kind_of


def main():
    program, params, end = sys.argv[1:]
    child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stream = Stream(child.stdout, child.stdin.fileno())

    def response(identity):
        content = stream.read()
        message = json.loads(content.decode())
        assert kind_of(message) == "response", content
        assert message["id"] == identity and isinstance(message["id"], type(identity)), content
        return message

    # The example of the document.
    stream.write({"id": 1, "method": "handshake", "params": json.loads(params)})
    assert "result" in response(1)
    # Every form of header; ids of every kind come back as they were.
    for identity in ("", "a string: å", 0, -7, 9007199254740991) * len(FORMS):
        stream.write({"id": identity, "method": "no such method"})
        assert response(identity)["error"]["code"] == -32601
    # A notification has no response, known or not; the next response is that of the request.
    stream.write({"method": "no such notification", "params": ["x"]})
    stream.write({"id": 2, "method": "no such method"})
    assert response(2)["error"]["code"] == -32601
    for content, code in ((b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', -32700),
                          (b'{"jsonrpc": "2.0", "method": 1, "params": "bar"}', -32600)):
        stream.write_content(content)
        assert response(None)["error"]["code"] == code, content
    stream.write({"method": end})
    assert stream.read() is None
    assert child.wait(20) == 0
    print("ok")


if __name__ == "__main__":
    main()

"""JSON-RPC with header framing over two pipes, for one thread."""

import json
import os
import select

from python_common import check, params_of

# json.dumps() would make a new encoder for each message.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Connection:
    """`answer` gets the params of a request and gives the result.

    What is sent is gathered until flush(), and never blocks: two sides that both wait for room in a
    full pipe would wait forever.
    """

    def __init__(self, reader, writer, answer):
        self.reader = reader
        self.writer = writer
        self.answer = answer
        self.served = 0
        self._input = bytearray()
        self._needed = 0
        self._output = bytearray()
        self._calls = {}
        self._last_id = 0
        os.set_blocking(writer, False)

    @property
    def unsent(self):
        return bool(self._output)

    def call(self, params, then):
        """then(result) is called when the answer comes."""
        self._last_id += 1
        self._calls[self._last_id] = then
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": "echo", "params": params})

    def _send(self, message):
        body = encode(message).encode()
        self._output += b"Content-Length: %d\r\n\r\n" % len(body)
        self._output += body

    def flush(self):
        """Writes what there is room for."""
        try:
            while self._output:
                del self._output[: os.write(self.writer, self._output)]
        except BlockingIOError:
            pass

    def receive(self):
        """Reads once, handles every whole message and flushes; False at the end of the input."""
        data = os.read(self.reader, 1 << 16)
        if not data:
            return False
        self._input += data
        if len(self._input) >= self._needed:
            self._take_messages()
            self.flush()
        return True

    def turn(self):
        """Waits until there is something to read, and receives it."""
        self.flush()
        while self._output:
            readable, writable, _ = select.select([self.reader], [self.writer], [])
            if writable:
                self.flush()
            if readable:
                break
        return self.receive()

    def drain(self):
        """Waits until everything is sent."""
        self.flush()
        while self._output:
            select.select([], [self.writer], [])
            self.flush()

    def _take_messages(self):
        data = self._input
        at = 0
        while True:
            head = data.find(b"\r\n\r\n", at)
            if head < 0:
                self._needed = 0
                break
            begin = head + 4
            end = begin + self._length(bytes(data[at:head]))
            if len(data) < end:
                # No look at the bytes before the whole message is there.
                self._needed = end - at
                break
            self._handle(json.loads(data[begin:end]))
            at = end
        del data[:at]

    @staticmethod
    def _length(head):
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return int(value)
        raise ValueError("a message has no Content-Length")

    def _handle(self, message):
        if "method" in message:
            result = self.answer(message["params"])
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            self.served += 1
        else:
            self._calls.pop(message["id"])(message["result"])


class Flood:
    """`count` calls with `inflight` of them at a time."""

    def __init__(self, connection, count, inflight, text):
        self.left = count
        self.awaited = count

        def call():
            self.left -= 1
            connection.call(params_of(text), answered)

        def answered(result):
            check(result, text)
            self.awaited -= 1
            if self.left:
                call()

        for _ in range(min(count, inflight)):
            call()

#!/usr/bin/env python3
"""An endpoint that speaks OpenAI's chat completions, as it should and otherwise.

    fake_model.py [--script FILE] [--log FILE] [--port N]

prints its port, and lives until its standard input ends. The first part of the path says what it
does: POST /text/chat/completions streams a text, /429/chat/completions refuses, and so on; see the
functions below, whose names they are ("-" for "_"). /MODE-once/… does that to the first question
and then answers with a text. /v1/… follows the script: JSON lines {"match"?, "role"?, "repeat"?,
"delayMs"?, "text"?, "thought"?, "pieces"?, "toolCalls"?, "tokens"?, "status"?, "retryAfter"?}; the
first line that is not used up, and whose match is in the last message, is the answer. GET /log
tells all that was asked: [{"mode", "authorization", "body"}, …].

The log file gets a line for each event: "asked MODE", and "gone MODE" when the client closes the
connection before the answer is whole.
"""
import argparse
import json
import os
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TEXT = "Grüße, 世界! 🙂"


def chunk(delta, finish=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}


USAGE = {"id": "c", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}


def call(index, name=None, arguments=None, **more):
    function = {}
    if name is not None:
        function["name"] = name
    if arguments is not None:
        function["arguments"] = arguments
    out = {"function": function, **more}
    if index is not None:
        out["index"] = index
    return out


class Gone(Exception):
    """The client is."""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    # What goes out.

    def raw(self, data):
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError as error:
            raise Gone from error

    def begin(self, status=200, kind="text/event-stream", length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def piece(self, data):
        if data:
            self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, value, end="\n"):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.piece(("data: %s%s%s" % (text, end, end)).encode())

    def end(self):
        self.raw(b"0\r\n\r\n")

    def whole(self, status, value, kind="application/json", **headers):
        body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.begin(status, kind, len(body), **headers)
        self.raw(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds):
        """Until then, or until the client is gone, which is an exception."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            if left <= 0:
                return
            ready, _, _ = select.select([self.connection], [], [], left)
            if ready and not self.connection.recv(1, socket.MSG_PEEK):
                raise Gone

    # What comes in.

    def do_GET(self):
        with self.server.lock:
            self.whole(200, self.server.asked)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            body = None
        parts = self.path.split("/")
        mode = parts[1]
        with self.server.lock:
            self.server.asked.append({"mode": mode, "path": self.path, "authorization": self.headers.get("Authorization"), "body": body})
            again = mode in self.server.seen
            self.server.seen.add(mode)
        self.server.tell("asked " + mode)
        try:
            if parts[-2:] != ["chat", "completions"] or not isinstance(body, dict):
                self.whole(404, {"error": {"message": "no such place"}})
            elif mode == "v1":
                self.follow(body)
            elif mode.endswith("-once"):
                self.text(body) if again else self.play(mode[:-5], body)
            else:
                self.play(mode, body)
        except (Gone, ConnectionError):
            self.close_connection = True
            self.server.tell("gone " + mode)

    def play(self, mode, body):
        if mode.isdigit():
            self.refuse(int(mode))
            return
        act = getattr(self, mode.replace("-", "_"), None)
        if act:
            act(body)
        else:
            self.whole(404, {"error": {"message": "no mode " + mode}})

    # As it should be.

    def text(self, body):
        if not body.get("stream"):
            self.plain(body)
            return
        self.begin()
        self.event(chunk({"role": "assistant", "content": ""}))
        for part in ("Grü", "ße, ", "世界", "! 🙂"):
            self.event(chunk({"content": part}))
        self.event(chunk({}, "stop"))
        self.event(USAGE)
        self.event("[DONE]")
        self.end()

    def plain(self, _body):
        """In one piece, whoever wants a stream or not."""
        message = {"role": "assistant", "content": TEXT, "tool_calls": None}
        self.whole(200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 5}})

    def plain_calls(self, _body, ids=({"id": "c1"}, {"id": "c2"})):
        calls = [{**ids[0], "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}, {**ids[1], "type": "function", "function": {"name": "list_tree", "arguments": "{}"}}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        self.whole(200, {"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    def plain_calls_no_ids(self, body):
        self.plain_calls(body, ({}, {}))

    def calls(self, _body):
        """Two calls whose fragments are mixed."""
        self.begin()
        self.event(chunk({"role": "assistant", "content": "I look. "}))
        self.event(chunk({"tool_calls": [call(0, "read_file", "", id="c1", type="function")]}))
        self.event(chunk({"tool_calls": [call(1, "write_file", "", id="c2", type="function")]}))
        for index, part in ((0, '{"pa'), (1, '{"path":"b","con'), (0, 'th":"a"}'), (1, 'tents":"ü\\n"}')):
            self.event(chunk({"tool_calls": [call(index, arguments=part)]}))
        self.event(chunk({}, "tool_calls"))
        self.event(USAGE)
        self.event("[DONE]")
        self.end()

    def thought(self, _body):
        self.begin()
        self.event(chunk({"reasoning_content": "Hm, "}))
        self.event(chunk({"reasoning_content": "well."}))
        self.event(chunk({"content": "Yes."}))
        self.event(chunk({}, "stop"))
        self.event("[DONE]")
        self.end()

    # Otherwise, but understood.

    def crlf(self, _body):
        self.begin()
        self.piece("\ufeff: a comment\r\nevent: message\r\nid: 1\r\n".encode())
        self.event(chunk({"content": "a"}), "\r\n")
        self.piece(b"retry: 10\r\n\r\ndata:\r\n\r\n")
        self.piece(b'data: {"choices":\r\ndata: [{"delta":{"content":"b"}}]}\r\n\r\n')
        self.event(chunk({}, "stop"), "\r")
        self.event("[DONE]", "\r")
        self.end()

    def bytes(self, _body):
        self.begin()
        text = "".join("data: %s\n\n" % json.dumps(value, ensure_ascii=False) for value in (chunk({"content": TEXT}), chunk({}, "stop")))
        for byte in (text + "data: [DONE]\n\n").encode():
            self.piece(bytes([byte]))
        self.end()

    def no_done(self, _body):
        self.begin()
        self.event(chunk({"content": "a"}))
        self.event(chunk({}, "stop"))
        self.end()

    def no_blank(self, _body):
        self.begin()
        self.event(chunk({"content": "a"}))
        self.piece(b"data: [DONE]")
        self.end()

    def open(self, _body):
        """All is said, but the connection does not end."""
        self.begin()
        self.event(chunk({"content": "a"}, "stop"))
        self.event("[DONE]")
        self.wait(20)

    def never_quiet(self, _body):
        """The same, and signs of life go on."""
        self.begin()
        self.event(chunk({"content": "a"}, "stop"))
        self.event("[DONE]")
        for _ in range(250):
            self.piece(b": still here\n\n")
            self.wait(0.02)

    def endless(self, _body):
        """The same without a last word."""
        self.begin()
        self.event(chunk({"content": "a"}, "stop"))
        for _ in range(250):
            self.piece(b": still here\n\n")
            self.wait(0.02)

    def no_index(self, _body):
        self.begin()
        self.event(chunk({"tool_calls": [call(None, "list_tree", "{", id="c1")]}))
        self.event(chunk({"tool_calls": [call(None, arguments="}")]}))
        self.event(chunk({"tool_calls": [call(None, "read_file", {"path": "a"}, id="c2")]}, "tool_calls"))
        self.event("[DONE]")
        self.end()

    def same_index(self, _body):
        self.begin()
        self.event(chunk({"tool_calls": [call(0, "list_tree", "{}", id="c1")]}))
        self.event(chunk({"tool_calls": [call(0, "read_file", '{"path":"a"}', id="c2")]}, "tool_calls"))
        self.event("[DONE]")
        self.end()

    def slow(self, _body):
        self.begin()
        for part in ("a", "b", "c"):
            self.event(chunk({"content": part}))
            self.wait(0.15)
        self.event(chunk({}, "stop"))
        self.event("[DONE]")
        self.end()

    def comments(self, _body):
        """Signs of life keep it alive."""
        self.begin()
        for _ in range(8):
            self.piece(b": still here\n\n")
            self.wait(0.1)
        self.event(chunk({"content": "a"}, "stop"))
        self.event("[DONE]")
        self.end()

    def many(self, _body):
        """A thousand calls of one answer."""
        self.begin()
        for i in range(1000):
            self.event(chunk({"tool_calls": [call(i, "read_file", '{"path":"%d"}' % i, id="c%d" % i)]}))
        self.event(chunk({}, "tool_calls"))
        self.event("[DONE]")
        self.end()

    # Refusals.

    def refuse(self, status):
        words = {429: "slow down", 401: "the key %s is wrong" % (self.headers.get("Authorization") or "")[7:]}
        headers = {"Retry_After": 0} if status == 503 else {}
        self.whole(status, {"error": {"message": words.get(status, "no %d" % status), "code": status}}, **headers)

    def later(self, _body):
        self.whole(429, {"error": "later"}, Retry_After=2)

    def much_later(self, _body):
        self.whole(429, {"message": "much\nlater\u001b[31m"}, Retry_After=3600)

    def late_key(self, _body):
        """The key, of which some is behind what is kept of a complaint."""
        self.whole(401, {"error": "x" * 382 + self.headers["Authorization"][7:] + " is wrong"})

    def html(self, _body):
        self.whole(502, b"<html>\n <body>Bad   Gateway</body>\xff</html>", "text/html")

    def long_complaint(self, _body):
        self.whole(500, b"x" * 1000000, "text/plain")

    def endless_complaint(self, _body):
        self.begin(400, "text/plain")
        while True:
            self.piece(b"no " * 1000)

    def elsewhere(self, _body):
        self.whole(307, b"", Location="/text/chat/completions")

    def strict(self, body):
        """It does not know stream_options."""
        if "stream_options" in body:
            self.whole(422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]})
        else:
            self.text(body)

    def detailed(self, _body):
        self.whole(422, {"detail": [{"msg": "too hot"}]})

    def listed(self, _body):
        self.whole(400, [{"error": {"code": 400, "message": "one of a list"}}])

    def only_done(self, _body):
        self.begin()
        self.event("[DONE]")
        self.end()

    def nothing(self, _body):
        self.whole(200, b"")

    def in_stream(self, _body):
        self.begin()
        self.event({"error": {"message": "overloaded", "code": 503, "type": "server_error"}})
        self.end()

    def in_field(self, _body):
        """As llama.cpp says it."""
        self.begin()
        self.piece(b'error: {"code":400,"message":"too much context","type":"server_error"}\n\n')
        self.end()

    def in_stream_late(self, _body):
        self.begin()
        self.event(chunk({"content": "a"}))
        self.event({"error": "it broke"})
        self.end()

    # Broken.

    def cut(self, _body):
        self.begin()
        self.event(chunk({"content": "half an "}))
        self.wait(0.05)
        self.hang_up()

    def cut_call(self, _body):
        self.begin()
        self.event(chunk({"tool_calls": [call(0, "write_file", '{"path":"a","contents":"ha', id="c1")]}))
        self.wait(0.05)
        self.hang_up()

    def cut_early(self, _body):
        self.begin()
        self.hang_up()

    def short(self, _body):
        """A stream that ends as HTTP should, but too early."""
        self.begin()
        self.event(chunk({"content": "half an "}))
        self.end()

    def drop(self, _body):
        self.hang_up()

    def malformed(self, _body):
        self.begin()
        self.event('{"choices":[{"delta":{"content":"a"}')
        self.event("[DONE]")
        self.end()

    def malformed_late(self, _body):
        self.begin()
        self.event(chunk({"content": "a"}))
        self.event("nonsense")
        self.end()

    def wrong_types(self, _body):
        self.begin()
        self.event({"choices": {"a": 1}})
        self.end()

    def wrong_calls(self, _body):
        self.begin()
        self.event(chunk({"tool_calls": ["x"]}))
        self.end()

    def not_utf8(self, _body):
        self.begin()
        self.piece(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n')
        self.end()

    def no_choices(self, _body):
        self.whole(200, {"choices": []})

    def mute(self, _body):
        self.wait(20)

    def silent(self, _body):
        self.begin()
        self.event(chunk({"content": "a"}))
        self.wait(20)

    def huge(self, _body):
        """Never ends."""
        self.begin()
        line = "data: %s\n\n" % json.dumps(chunk({"content": "x" * 10000}))
        while True:
            self.piece(line.encode())

    def huge_line(self, _body):
        self.begin()
        while True:
            self.piece(b"x" * 10000)

    def too_many(self, _body):
        self.begin()
        for i in range(20001):
            self.event(chunk({"tool_calls": [call(i, "x", "{}")]}))
        self.event("[DONE]")
        self.end()

    # The script.

    def follow(self, body):
        messages = body.get("messages") or [{}]
        step = self.server.step_for(messages[-1])
        if step is None:
            self.whole(500, {"error": {"message": "the script has no step for this"}})
            return
        self.wait(step.get("delayMs", 0) / 1000)
        if "status" in step:
            headers = {"Retry_After": step["retryAfter"]} if "retryAfter" in step else {}
            self.whole(step["status"], {"error": {"message": step.get("text", "refused")}}, **headers)
            return
        calls = [{"index": i, "id": it.get("id", "call_%d" % (i + 1)), "type": "function", "function": {"name": it["name"], "arguments": it["args"] if isinstance(it.get("args"), str) else json.dumps(it.get("args", {}))}} for i, it in enumerate(step.get("toolCalls", []))]
        reason = "tool_calls" if calls else "stop"
        usage = {"total_tokens": step["tokens"]} if "tokens" in step else None
        text = step.get("text")
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            if calls:
                message["tool_calls"] = calls
            self.whole(200, {"choices": [{"message": message, "finish_reason": reason}], "usage": usage})
            return
        self.begin()
        if "thought" in step:
            self.event(chunk({"reasoning_content": step["thought"]}))
        count = step.get("pieces", 1)
        for i in range(count if text else 0):
            self.event(chunk({"content": text[len(text) * i // count:len(text) * (i + 1) // count]}))
        for it in calls:
            self.event(chunk({"tool_calls": [it]}))
        self.event(chunk({}, reason))
        if usage:
            self.event({"choices": [], "usage": usage})
        self.event("[DONE]")
        self.end()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, options):
        super().__init__(("127.0.0.1", options.port), Answer)
        self.lock = threading.Lock()
        self.asked = []
        self.seen = set()
        self.log = open(options.log, "a", encoding="utf-8") if options.log else None
        self.steps = []
        if options.script:
            with open(options.script, encoding="utf-8") as lines:
                self.steps = [json.loads(line) for line in lines if line.strip() and line[0] != "#"]
        self.left = [step.get("repeat", 1) for step in self.steps]

    def tell(self, line):
        if self.log:
            with self.lock:
                self.log.write(line + "\n")
                self.log.flush()

    def step_for(self, message):
        content = message.get("content") or ""
        if isinstance(content, list):
            content = " ".join(part.get("text", "") for part in content)
        with self.lock:
            for i, step in enumerate(self.steps):
                if not self.left[i] or step.get("match", "") not in content or step.get("role", message.get("role")) != message.get("role"):
                    continue
                if self.left[i] is not True:
                    self.left[i] -= 1
                return step
        return None

    def handle_error(self, request, client_address):
        pass  # a client that leaves is no news


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--script")
    parser.add_argument("--log")
    parser.add_argument("--port", type=int, default=0)
    server = Server(parser.parse_args())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())

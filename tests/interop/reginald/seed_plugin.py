#!/usr/bin/env python3
"""A plugin ("server") written from the document of the protocol alone, see seed.py. The document does not say what
methods there are: SEED_METHODS is a file with {METHOD: the result, or {"$error": CODE}}. "$end" names the
notification that ends it, and "$ask" a method of the client that it requests before it answers $asks, since "both
the client and the server can send both requests and responses"; "$tell" is a notification that it sends with that.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from seed import Stream, kind_of


def main():
    with open(os.environ["SEED_METHODS"], encoding="utf-8") as file:
        methods = json.load(file)
    stream = Stream(sys.stdin.buffer, 1)
    while (content := stream.read()) is not None:
        try:
            message = json.loads(content.decode())
        except ValueError:
            stream.write({"id": None, "error": {"code": -32700, "message": "Parse error"}})
            continue
        kind = kind_of(message)
        if kind == "notification":
            if message["method"] == methods.get("$end"):
                return 0
        elif kind != "request":
            stream.write({"id": None, "error": {"code": -32600, "message": "Invalid Request"}})
        else:
            if message["method"] == methods.get("$asks"):
                stream.write(methods["$tell"])
                stream.write({"id": "a request of the server", "method": methods["$ask"]})
                answer = json.loads(stream.read().decode())
                if kind_of(answer) != "response" or answer["id"] != "a request of the server":
                    return 8
                print("the client responded: " + json.dumps(answer), file=sys.stderr, flush=True)
            answer = methods.get(message["method"], {"$error": -32601})
            code = answer.get("$error") if isinstance(answer, dict) else None
            reply = {"error": {"code": code, "message": "no"}} if code else {"result": answer}
            stream.write({"id": message["id"], **reply})
    return 1


if __name__ == "__main__":
    sys.exit(main())

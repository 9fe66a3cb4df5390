"""I1 to I3: what was asked for beside the numbered cases. See rows.py."""
import sys
import time

import rows
from rows import Client, best, same


def row_I1():
    """ping through our client is answered in less than 10 ms while a 5 s tool of our server runs."""
    with Client() as client:
        client.start_ours()
        client.call("slow", name="sleep", arguments={"ms": 5000, "name": "slow"})
        count = [0]

        def measure():
            count[0] += 1
            tag = "ping%d" % count[0]
            called = client.call(tag, "ping")
            return client.answer(tag)["at"] - called["at"]

        best(measure, 10, times=20)
        client.none("answer", "the tool has ended", tag="slow")
        client.close()


def row_I2():
    """A tool call that is cancelled gets no answer, and its handler was told."""
    with Client() as client:
        client.start_ours(traffic=True)
        client.call("a", name="deaf", arguments={"ms": 200, "name": "a"})
        client.call("b", name="sleep", arguments={"ms": 60000, "name": "b"})
        client.event("errors", line="began a")
        client.event("errors", line="began b")
        client.do("cancel", tag="a", reason="enough")
        client.do("cancel", tag="b")
        client.answer("a", "cancelled")
        client.answer("b", "cancelled")
        for line in ("cancelled a", "cancelled b", "finished a"):
            client.event("errors", line=line)
        client.call("c", name="echo", arguments={"text": "x"})
        client.answer("c")
        came = [each["text"] for each in client.events if each["event"] == "traffic" and not each["out"]]
        same(len([each for each in came if '"content"' in each]), 1, "answers to calls on the wire")
        client.close()


def row_I3():
    """10,000 calls at once over one pipe all end once, each with its own answer."""
    with Client() as client:
        client.start_ours()
        began = time.monotonic()
        client.do("many", name="shuffled", count=10000)
        got = client.event("many", patience=50)
        same((got["done"], got["wrong"], got["pending"]), (10000, 0, 0), "all of them")
        print("# %.2f s" % (time.monotonic() - began))
        client.close()


if __name__ == "__main__":
    sys.exit(rows.main(globals()))

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from flood import Flood
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter
from python_common import echo_words, fail, text_of


def main():
    both = echo_words()
    reader = JsonRpcStreamReader(sys.stdin.buffer)
    writer = JsonRpcStreamWriter(sys.stdout.buffer)
    endpoint = Endpoint({"echo": lambda params: params}, writer.write)
    work = None

    def consume(message):
        nonlocal work
        endpoint.consume(message)
        if both and not work:
            count, inflight, size = both
            work = Flood(endpoint, count, text_of(size))
            work.begin(inflight)

    reader.listen(consume)
    if work and work.awaited:
        fail("the input ended before all answers came")
    endpoint.shutdown()


main()

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from connection import Connection, Flood
from python_common import echo_words, fail, text_of


def main():
    both = echo_words()
    connection = Connection(0, 1, lambda params: params)
    flood = None
    while connection.turn():
        if both and not flood and connection.served:
            count, inflight, size = both
            flood = Flood(connection, count, inflight, text_of(size))
    if flood and flood.awaited:
        fail("the input ended before all answers came")


main()

import threading

from python_common import check, fail, params_of


class Flood:
    """`count` requests of `echo`; each answer makes the next in its callback."""

    def __init__(self, endpoint, count, text):
        self.endpoint = endpoint
        self.text = text
        self.left = count
        self.awaited = count
        self.done = threading.Event()
        # The first ones are made in another thread than the callbacks run in.
        self.lock = threading.Lock()

    def begin(self, inflight):
        for _ in range(inflight):
            self._request()

    def _request(self):
        with self.lock:
            if not self.left:
                return
            self.left -= 1
        future = self.endpoint.request("echo", params_of(self.text))
        future.add_done_callback(self._answered)

    def _answered(self, future):
        # A future only logs what its callback raises.
        try:
            check(future.result(), self.text)
            self._request()
        except Exception as error:
            fail(f"a request failed: {error}")
        with self.lock:
            self.awaited -= 1
            if not self.awaited:
                self.done.set()

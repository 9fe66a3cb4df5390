"""Every fault of duplex mock, as a user of duplex call sees it: it ends in time, with the code that it should have, and one line
that says why."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_talk import *  # noqa: E402,F403

TABLE = [json.loads(text) for text in subprocess.run([DUPLEX, "mock", "--list-faults", "--json"], capture_output=True, check=True).stdout.splitlines()]
# Which code comes of it, where that is not 0, of a peer without a handshake.
LATE = "length-missing length-form length-unmet length-short length-long pretty interleaved deep utf8-invalid utf8-overlong member-twice trailing not-json id-unknown late " \
       "id-form method-and-result cancel-ignored progress-endless silent deaf stuck framing-switch raw-newline"
VIOLATION = "charset length-differs length-digits length-limit header-flood line-endless other-framing result-and-error " \
            "result-missing version-missing version-wrong"
ENDED = "cut-header cut-body dies-writing exit signal closes-output grandchild"
CODES = {name: code for names, code in ((LATE, 5), (VIOLATION, 6), (ENDED, 4), ("error-shape", 1)) for name in names.split()}

def called(name, framing):
    def check():
        began = time.monotonic()
        got = subprocess.run([DUPLEX, "call", "-f", framing, "-t", "1s", "x", "a=1", "--", DUPLEX, "mock", "-f", framing, "--fault", name, "--late", "1500ms"],
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert time.monotonic() - began < 30
        wanted = CODES.get(name, 0)
        same(got.returncode, wanted, (got.stdout[:200], got.stderr[-500:]))
        if wanted:
            assert got.stderr.splitlines()[0].startswith(b"duplex call: "), got.stderr[:500]
        else:
            assert got.stdout.strip(), got
    return check


for row in TABLE:
    for kind in [row["framing"]] if row["framing"] != "any" else ["line", "header"]:
        CASES.append(("call %s %s" % (row["name"], kind), called(row["name"], kind)))


@case
def long_traces():
    for count, code in ((1000000, 0), (1000001, 2)):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write('{"duplex-trace":1,"time":"us","part":1}\n')
            file.write('{"t":1,"from":"host","peer":"p","message":{"jsonrpc":"2.0","method":"n"}}\n' * count)
            file.flush()
            seen, got, said = ask("--trace", file.name, send=request(1, "m"))
        same(got, code, said)
        assert code or seen.startswith(b'{"jsonrpc":"2.0","id":1,"error"'), seen


@case
def long_batches():
    for count, code in ((63, 0), (64, 5)):
        seen, got, said = ask(send=line(b"[" + b",".join(request(i, "a")[:-1] for i in range(count)) + b"]"), script={"duplex-mock": 1, "on": [{"do": {"result": "y" * (1 << 20)}}]})
        same((len(seen) > 63 << 20, got, said), (not code, code, "duplex mock: the responses to a batch are longer than 64 MiB\n" if code else ""))


sys.exit(run_all(8))

"""Floods of lines: what is relayed of a peer's standard error, its logs and its mistakes is bounded,
and what is left out is counted.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import attack
from attack import MB, MIB, Program, Wrong, duplex, eventually, python, same, true

# Writes SIZE bytes of a KIND to its standard error, or mistakes to its standard output; then it
# answers the request that it got, if it is to.
FLOOD = r'''
import json, os, sys
size, kind, answers = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "answer"
request = json.loads(sys.stdin.readline()) if answers else None
blocks = {
    "lines": b"".join(b"%06d all work and no play makes jack a dull boy\n" % i for i in range(20000)),
    "same": b"all work and no play makes jack a dull boy\n" * 20000,
    "eights": (b"a\n" * 8 + b"b\n" * 8) * 25000,
    "random": os.urandom(1 << 20),
    # An answer to nothing, and JSON that ends at another place each time.
    "violations": b"".join(b'{"jsonrpc":"2.0","id":"x","result":1}\n{"jsonrpc":"2.0","%s\n' % (b"x" * (i % 99))
                           for i in range(20000)),
}
block = blocks[kind]
fd = 1 if kind == "violations" else 2
while size > 0:
    size -= os.write(fd, block[:size])
os.write(fd, b"\n")
if answers:
    print('{"jsonrpc":"2.0","id":%s,"result":1}' % json.dumps(request["id"]), flush=True)
    sys.stdin.read()
'''
SUPPRESSED = re.compile(r"… ([0-9,]+) lines? suppressed \(([0-9,]+) bytes\)")
REPEATED = re.compile(r"last line repeated (?:([0-9,]+) times|once)")
LINE = b"000000 all work and no play makes jack a dull boy\n"
GB = 1000 * MB


def flood(size, kind="lines", how="leave"):
    return python(FLOOD, str(size), kind, how)


def number(text):
    return int(text.replace(",", "")) if text else 1


def bound(program):
    """10 MiB for what takes some seconds; a machine that needs longer for it shows more of it."""
    return max(10, time.monotonic() - program.began + 2) * MIB


def relays_little(argv, size, seconds=60, codes=(0,), **more):
    """What the command shows of a flood of so many bytes is little, and says what is missing."""
    with Program(argv, **more) as program:
        code = program.wait(seconds)
        shown = os.path.getsize(program.path("out")) + os.path.getsize(program.path("err"))
        true(shown <= bound(program), "%d MB shown" % (shown / MB))
        program.below(100 * MB)
        program.is_sane()
        said = program.printed() + program.said()
        true(code in codes, "exit code %d" % code)
        # What a failure ends with shows its last 8 KiB once more.
        lost = sum(number(count) for count, _ in SUPPRESSED.findall(said))
        kept = said.count("all work and no play")
        true(abs(lost + kept - size / len(LINE)) <= 8192 / len(LINE) + 10, "%d lines shown, %d counted" % (kept, lost))
        return said


def floods_call(size):
    relays_little(duplex("call", "-t", "5m", "--stderr", "inherit", "-p", "jsonrpc", "-f", "line",
                         "foo", "--", *flood(size, how="answer")), size)


def script(folder, name, size, kind="lines"):
    """A file that is such a program."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!%s -IS\nimport sys\nsys.argv[1:] = ['%d', '%s', 'leave']\n%s" % (sys.executable, size, kind, FLOOD))
    os.chmod(path, 0o755)
    return path


def floods_mcp(size):
    # It ends while it is greeted.
    relays_little(duplex("mcp", "ping", "--start-timeout", "5m", "--stderr", "inherit", "--", *flood(size)), size, codes=(4,))


def floods_mcp_file(size):
    """--stderr FILE is a log, too."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        with Program(duplex("mcp", "ping", "--start-timeout", "5m", "--stderr", log, "--", *flood(size))) as program:
            same(program.wait(60), 4, "exit code")
            true(os.path.getsize(log) <= bound(program), "%d bytes" % os.path.getsize(log))
            with open(log, encoding="utf-8") as file:
                true(SUPPRESSED.search(file.read()), "nothing says what is missing")


def floods_hermes(size, *options):
    relays_little(duplex("hermes", "host", *options, "--start-timeout", "5m", "--run", "x", "--extension",
                         " ".join("'%s'" % word.replace("'", "'\\''") for word in flood(size))), size, codes=(4,))


def floods_reginald(size):
    with tempfile.TemporaryDirectory() as folder:
        script(folder, "reginald-flood", size)
        relays_little(duplex("reginald", "--plugin-dir", folder, "--handshake-timeout", "5m", "plugins"),
                      size, codes=(0, 1, 2, 3, 4))


def floods_finecode(size):
    with tempfile.TemporaryDirectory() as folder:
        program = script(folder, "flood", size)
        with open(os.path.join(folder, "finecode.toml"), "w", encoding="utf-8") as file:
            file.write('[finecode.er]\nrunner = ["%s"]\n[finecode.action.lint]\nsource = "a.Lint"\n'
                       '[[finecode.action.lint.handlers]]\nname = "x"\nsource = "a.X"\nenv = "e"\n' % program)
        relays_little(duplex("finecode", "runners", "-w", folder, "--log-level", "INFO", "--initialize-timeout", "5m"),
                      size, codes=(3, 4))
        relays_little(duplex("finecode", "runners", "-w", folder, "--json", "--initialize-timeout", "5m"), size, codes=(3, 4))


def floods_autohand(size):
    relays_little(duplex("autohand", "prompt", "--json", "--no", "--start-timeout", "5m", "x", "--", *flood(size)), size, codes=(4,))


def floods_run(size, kind, seconds=60):
    """What a run keeps, even if it may keep much; and whoever asks for it gets that."""
    with tempfile.TemporaryDirectory() as folder:
        config, socket = os.path.join(folder, "config"), os.path.join(folder, "socket")
        with open(config, "w", encoding="utf-8") as file:
            # A run whose peers have all ended ends, too.
            json.dump({"duplex": 1, "peers": {"flood": {"command": flood(size, kind), "restart": "never"},
                                              "stays": {"command": ["cat"]}}}, file)
        with Program(duplex("run", "--socket", socket, "--config", config, "--log-max", "64M")) as run:
            eventually(lambda: "stopped" in run.said() or "failed" in run.said(), "the peer still runs",
                       patience=attack.time_bound(seconds))
            limit = bound(run)
            with Program(duplex("logs", "--socket", socket)) as logs:
                same(logs.wait(20), 0, "exit code")
                text = logs.printed()
            true(len(text) <= 2 * limit, "%d bytes of logs" % len(text))
            true(os.path.getsize(run.path("err")) < MIB, "%d bytes" % os.path.getsize(run.path("err")))
            run.below(100 * MB)
            run.is_sane()
            return text


def attack_stderr_of_call():
    floods_call(GB)


def attack_stderr_of_run():
    text = floods_run(200 * MB, "lines")
    true(SUPPRESSED.search(text), "nothing says what is missing")


def attack_stderr_of_mcp():
    floods_mcp(200 * MB)
    floods_mcp_file(50 * MB)


def attack_stderr_of_hermes():
    floods_hermes(200 * MB)
    floods_hermes(50 * MB, "--json")


def attack_stderr_of_reginald():
    floods_reginald(200 * MB)


def attack_stderr_of_finecode():
    floods_finecode(40 * MB)


def attack_stderr_of_autohand():
    floods_autohand(200 * MB)


def call(*words):
    return duplex("call", "-t", "5m", "--stderr", "inherit", "-p", "jsonrpc", "-f", "line", "foo", "--", *words)


def attack_repeated_lines():
    """Collapsed: six lines a second, however many there are, and none is missing in the count."""
    size = 200 * MB
    with Program(call(*flood(size, "same", "answer"))) as program:
        same(program.wait(60), 0, "exit code")
        lines = program.said().splitlines()
        repeats = [REPEATED.fullmatch(line) for line in lines]
        true(all(repeat or line.startswith("all work") for repeat, line in zip(repeats, lines)), lines)
        count = repeats.count(None) + sum(number(repeat[1]) for repeat in repeats if repeat)
        true(abs(count - size / 43) <= 1, "%d lines counted" % count)
        true(len(lines) <= 6 * (time.monotonic() - program.began + 2), "%d lines" % len(lines))


def attack_repeated_lines_in_eights():
    """Summaries count as lines."""
    with Program(call(*flood(20 * MB, "eights", "answer"))) as program:
        same(program.wait(60), 0, "exit code")
        lines = program.said().splitlines()
        true(len(lines) <= 1003 * (time.monotonic() - program.began + 2), "%d lines" % len(lines))
        true(SUPPRESSED.fullmatch(lines[-1]), lines[-1])


def attack_stderr_not_text():
    """Bytes that take four when they are shown count as four."""
    with Program(call(*flood(100 * MB, "random", "answer"))) as program:
        same(program.wait(60), 0, "exit code")
        shown = os.path.getsize(program.path("err"))
        true(MIB / 2 < shown <= bound(program), "%d bytes shown" % shown)
        program.below(100 * MB)


def attack_violations():
    """Answers that nobody has asked for."""
    with tempfile.TemporaryDirectory() as folder:
        size = 30 * MB
        script(folder, "reginald-flood", size, "violations")
        words = " ".join("'%s'" % word.replace("'", "'\\''") for word in flood(size, "violations"))
        for argv in (duplex("hermes", "host", "--start-timeout", "5m", "--run", "x", "--extension", words),
                     duplex("hermes", "host", "--json", "--start-timeout", "5m", "--run", "x", "--extension", words),
                     duplex("reginald", "--plugin-dir", folder, "--handshake-timeout", "5m", "plugins"),
                     duplex("mcp", "ping", "--start-timeout", "5m", "--", *flood(size, "violations")),
                     duplex("autohand", "prompt", "--json", "--no", "--start-timeout", "5m", "x", "--", *flood(size, "violations")),
                     call(*flood(size, "violations", "answer"))):
            with Program(argv, stdin=None) as program:
                program.wait(60)
                shown = os.path.getsize(program.path("out")) + os.path.getsize(program.path("err"))
                true(shown <= bound(program) / 2, "%d bytes shown" % shown)
                program.below(100 * MB)
                program.is_sane()
        text = floods_run(size, "violations")
        true("violation: " in text and SUPPRESSED.search(text), text[-300:])


LOGGER = r"""
import json, os, sys
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        say({"id": request["id"], "result": {"protocolVersion": "2025-06-18", "capabilities": {"logging": {}},
                                             "serverInfo": {"name": "s", "version": "1"}}})
    elif request.get("method") == "logging/setLevel":
        say({"id": request["id"], "result": {}})
        block = b"".join(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {
            "level": "info", "logger": "l", "data": {"number": i}}}).encode() + b"\n" for i in range(10000))
        for i in range(20):
            os.write(1, block)
        break
"""


def attack_log_messages():
    """A file gets all that was asked for; a terminal as much as one can read."""
    with Program(duplex("mcp", "log", "--", *python(LOGGER))) as program:
        same(program.wait(60), 4, "exit code")
        same(program.printed().count("number"), 200000, "log messages in a file")
        same(program.said().count("suppressed"), 0, "what is left out")
    for options in ((), ("--json",)):
        ours, theirs = os.openpty()
        began = time.monotonic()
        child = subprocess.Popen(duplex("mcp", "log", *options, "--", *python(LOGGER)), stdin=subprocess.DEVNULL,
                                 stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # the end of a terminal
            pass
        os.close(ours)
        same(child.wait(), 4, "exit code")
        said = said.decode()
        kept = said.count("number")
        lost = sum(number(count) for count, _ in SUPPRESSED.findall(said))
        same(kept + lost, 200000, "log messages shown and counted")
        true(kept <= 1000 * (time.monotonic() - began + 2), "%d lines" % kept)


def attack_lines_of_a_start():
    """A program that says much when it starts loses nothing, and what a flood ends with is told."""
    talks = "import sys\nfor i in range(900): print('line %d' % i, file=sys.stderr)\nsys.exit(5)"
    with Program(call(*python(talks))) as program:
        program.wait(30)
        true(program.said().startswith("".join("line %d\n" % i for i in range(900))), program.said()[-500:])
    # Beside a busy machine a start may take longer than a second, which only helps.
    dies = "import sys\nfor i in range(20000): print('line %d' % i, file=sys.stderr)\nsys.exit('the disk is full')"
    with tempfile.TemporaryDirectory() as folder:
        config, socket = os.path.join(folder, "config"), os.path.join(folder, "socket")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"duplex": 1, "peers": {"p": {"command": python(dies), "restart": "never"}}}, file)
        with Program(duplex("run", "--socket", socket, "--config", config)) as run:
            eventually(lambda: "failed" in run.said(), "the peer still runs")
            true("the disk is full" in run.said(), run.said()[-500:])


def attack_recording_keeps_all():
    """A trace is no log."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        with Program(duplex("tap", "-o", trace, "--", *flood(10 * MB)), stdin=None) as program:
            same(program.wait(60), 0, "exit code")
            same(os.path.getsize(program.path("err")), 10 * MB + 1, "bytes that a tap passes on")
        with open(trace, encoding="utf-8") as file:
            kept = sum(len(json.loads(line).get("stderr", "")) for line in file)
        same(kept, 10 * MB + 1, "bytes recorded")


def attack_stderr_everywhere_long():
    """A gigabyte for each."""
    for floods in floods_mcp, floods_hermes, floods_reginald, floods_finecode, floods_autohand:
        floods(GB)
    floods_run(GB, "lines")


if __name__ == "__main__":
    sys.exit(attack.main(globals()))

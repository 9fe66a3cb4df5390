"""Runs the hosts, interleaved: in each round every case once, so that a ratio of two of them is taken
within one round, and what disturbs the machine meanwhile disturbs both."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

LIMIT_S = 180  # a run that takes longer hangs
LONG_S = 10  # a slow peer's run is cut to about this
PATIENCE = 2  # failures, after which a case is not tried again


class Progress:
    """On a terminal one line, rewritten in place; elsewhere one line a workload."""

    def __init__(self, stream=sys.stderr):
        self.stream = stream
        self.terminal = stream.isatty()

    def step(self, text):
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[K{text[:width]}")
            self.stream.flush()

    def begin(self, text):
        if not self.terminal:
            self.line(text)

    def line(self, text):
        self.clear()
        self.stream.write(text + "\n")
        self.stream.flush()

    def clear(self):
        self.step("")


@dataclass
class Case:
    """One host with its arguments: a peer at a workload, or Duplex at one point of a curve."""
    name: str
    peer: object
    workload: object
    arguments: tuple
    rounds: int
    scaled: dict = None
    runs: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def record(self):
        record = {"arguments": list(self.arguments), "words": list(self.peer.words),
                  "rounds": self.rounds, "runs": self.runs, "failures": self.failures}
        if self.scaled:
            record["scaled"] = self.scaled
        return record


def cores():
    return sorted(os.sched_getaffinity(0))


def cannot(workload):
    """Why a workload cannot be done on this machine, or None."""
    if workload.cores and not shutil.which("taskset"):
        return "taskset is not installed"
    if workload.cores > len(cores()):
        return "there is only one core"
    return None


def command(peer, workload, arguments):
    host, echo = peer.programs()
    host_pin = echo_pin = []
    if workload.cores:
        taskset, own = shutil.which("taskset"), cores()
        host_pin = [taskset, "-c", str(own[0])]
        echo_pin = [taskset, "-c", str(own[workload.cores - 1])]
    words = [str(word) for word in arguments]
    return [*host_pin, *host, *peer.words, *words,
            "--", *echo_pin, *echo, *peer.words, *(words if words[0] == "both" else ())]


def run_host(argv, limit=LIMIT_S):
    """What the host printed, and None; or None, and why."""
    try:
        # A group of its own, so that a host that hangs goes together with its children.
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        return None, f"cannot start: {error.strerror}"
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        return None, f"took longer than {limit:g} s"
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        lines = err.decode(errors="replace").strip().splitlines()
        code = process.returncode
        how = f"code {code}" if code > 0 else f"signal {-code}"
        return None, f"{how}: {lines[-1].strip() if lines else 'nothing on standard error'}"
    try:
        fields = json.loads(out.decode().strip().splitlines()[-1])
    except (ValueError, IndexError):
        fields = None
    if not isinstance(fields, dict):
        return None, "did not print a line of JSON"
    return fields, None


def _end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.kill()
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        pass  # somebody outside the group still has the pipe


def run_case(case, arguments=None):
    """A record of one run, and None; or None, and why."""
    arguments = arguments or case.arguments
    begin = time.monotonic()
    fields, why = run_host(command(case.peer, case.workload, arguments))
    if why:
        return None, why
    try:
        value = case.workload.value(arguments, fields)
        good = math.isfinite(value) and value > 0
    except (KeyError, TypeError, ZeroDivisionError):
        good = False
    if not good:
        return None, f"no usable result in {json.dumps(fields)}"
    return {"value": value, "wall": round(time.monotonic() - begin, 3), "fields": fields}, None


def try_out(case):
    """Runs that do not count: does it work at all, and how long will it take? A slow peer's COUNT is
    cut if it takes too long; its figures are per message, or of one of TIMES, all the same."""
    full = case.arguments[case.workload.count]
    short = min(full, max(case.workload.least, full // 20))
    while True:
        run, why = run_case(case, case.workload.with_count(short))
        if why:
            case.failures.append({"round": "trial", "why": why})
            return False
        # The clock of the host leaves out the start; where it is all start, each one counts.
        work = run["wall"] if case.arguments[0] == "start" else run["fields"].get("seconds", run["wall"])
        fixed, expected = run["wall"] - work, work * full / short
        if case.peer.fast or short == full or fixed + expected <= LONG_S:
            return True
        if work >= LONG_S / 5:
            break
        short = min(full, 4 * short)  # whoever compiles while it runs is slow only at first
    count = max(short, int(full * (LONG_S - fixed) / expected))
    if case.arguments[0] == "children":
        count -= count % case.arguments[1]
    case.arguments = case.workload.with_count(count)
    case.scaled = {"from": full, "to": count, "why": f"the full number would take about {fixed + expected:.0f} s"}
    return True


def takes_part(own, rounds, round_):
    """A case with fewer rounds takes part in some that are spread evenly over all."""
    own = min(own, rounds)
    return round_ * own // rounds != (round_ - 1) * own // rounds


def order(cases, round_):
    """Rotated by one each round, and turned around every other: nobody always follows the same one."""
    if not cases:
        return []
    start = round_ % len(cases)
    turned = cases[start:] + cases[:start]
    return turned[::-1] if round_ % 2 else turned


def measure(title, cases, rounds, progress, trial=True):
    if trial:
        for case in cases:
            progress.step(f"{title}: trying {case.name}")
            if not try_out(case):
                progress.line(f"bench: {title}: {case.name} is skipped: {case.failures[-1]['why']}")
        cases = [case for case in cases if not case.failures]
    for round_ in range(rounds):
        going = [case for case in cases
                 if len(case.failures) < PATIENCE and takes_part(case.rounds, rounds, round_)]
        for case in order(going, round_):
            progress.step(f"{title}: round {round_ + 1} of {rounds}, {case.name}")
            run, why = run_case(case)
            if why:
                case.failures.append({"round": round_, "why": why})
                progress.line(f"bench: {title}: {case.name} failed in round {round_ + 1}: {why}")
            else:
                case.runs.append({"round": round_, **run})
    progress.clear()

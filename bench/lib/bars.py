"""The bars, and whether they hold: one does when the 95 % interval of what was measured reaches it."""

from dataclasses import dataclass
from statistics import median

from . import stats

AT_MOST, AT_LEAST, BELOW = "≤", "≥", "<"


@dataclass(frozen=True)
class Bar:
    workload: str
    ours: str
    kind: str
    number: float
    other: str = ""  # ours as a ratio to this
    field: str = ""  # or a field of ours by itself
    unit: str = ""
    growth: str = ""  # or over a curve: "time" or "memory"

    def text(self):
        number = f"{self.number:,g}"
        if self.other:
            return f"{self.kind} {number} × {self.other}"
        if self.growth == "time":
            return f"time per message {self.kind} {number} × that of any smaller"
        if self.growth:
            return f"memory per pending call {self.kind} {number} {self.unit}"
        return f"{self.field} {self.kind} {number} {self.unit}"


def _floods(workload):
    return (
        Bar(workload, "duplex", AT_LEAST, 0.85, "plain"),
        Bar(workload, "duplex-text", AT_LEAST, 0.85, "plain-splice"),
        Bar(workload, "duplex-line", AT_LEAST, 0.85, "plain-line"),
        Bar(workload, "duplex", AT_LEAST, 40, "vscode-jsonrpc"),
        Bar(workload, "duplex", AT_LEAST, 40, "mcp-sdk"),
        Bar(workload, "duplex", AT_LEAST, 40, "go"),
        Bar(workload, "duplex", AT_LEAST, 150, "jsonrpc-glib"),
    )


BARS = (
    Bar("W1-one", "duplex", AT_MOST, 1.3, "plain"),
    Bar("W1-one", "duplex-busy", AT_MOST, 1.15, "plain"),
    Bar("W1-one", "duplex-busy", AT_MOST, 1.2, "duplex"),
    Bar("W1-one", "duplex-tap", AT_MOST, 2.5, "duplex"),  # W8
    Bar("W1-two", "duplex", AT_MOST, 1.1, "raw"),
    Bar("W1-two", "duplex-busy", AT_MOST, 0.1, "raw"),
    *_floods("W2"),
    Bar("W2", "duplex-checked", AT_LEAST, 0.714, "duplex"),  # W7: at most 1.4 times as long
    Bar("W2", "duplex-tap", AT_LEAST, 0.5, "duplex"),  # W8
    Bar("W3", "duplex", AT_MOST, 2.2, "raw"),
    Bar("W3", "duplex-text", AT_MOST, 1.8, "raw"),
    Bar("W4", "duplex", AT_LEAST, 0.85, "plain"),
    Bar("W4", "duplex", BELOW, 6144, field="rss_kib", unit="KiB"),
    Bar("W5", "duplex", AT_MOST, 1.2, "plain"),
    Bar("W5", "duplex", BELOW, 2048, field="idle_kib", unit="KiB"),
    *_floods("W6"),
    Bar("call", "duplex-call", AT_MOST, 6, "plain"),
    Bar("W9-pending", "duplex", AT_MOST, 2, growth="time"),
    Bar("W9-pending", "duplex", BELOW, 256, growth="memory", unit="bytes"),
    Bar("W9-children", "duplex", AT_MOST, 2, growth="time"),
)

# Not bars of Duplex but a check on (b): were it slower than this beside raw bytes, it would be easy to
# keep up with; were it faster, it would do less than a peer has to.
PLAIN_BY_RAW = (2, 3.5)
CHECKED = ("W2", "W3")


@dataclass
class Verdict:
    bar: Bar
    measured: tuple = None  # median, low, high
    samples: int = 0
    holds: bool = None  # None: not measured
    why: str = ""


def by_round(case, field=None):
    """Maps the rounds of a case to its value, or to a field that its host printed."""
    if case is None:
        return {}
    if field is None:
        return {run["round"]: run["value"] for run in case["runs"]}
    return {run["round"]: run["fields"][field] for run in case["runs"]
            if isinstance(run["fields"].get(field), (int, float))}


def case_of(results, workload, name):
    return results["workloads"].get(workload, {}).get("cases", {}).get(name)


def ratios(results, workload, ours, other):
    return stats.paired(by_round(case_of(results, workload, ours)),
                        by_round(case_of(results, workload, other)))


def _time_growth(cases):
    """Of all pairs of a smaller and a larger point, the ratios of the one that grew most.

    The first point is no good as the only measure: with one call pending, each pays a wake-up.
    """
    middle = [(median(values.values()), values) for values in map(by_round, cases) if values]
    pairs = [(large[0] / small[0], large[1], small[1])
             for at, large in enumerate(middle) for small in middle[:at]]
    if not pairs:
        return []
    _, large, small = max(pairs, key=lambda pair: pair[0])
    return stats.paired(large, small)


def _memory_growth(cases):
    """Bytes for each pending call where they are the most: the host's memory before the first is made
    and when all are, which it prints."""
    before, full = by_round(cases[-1], "before_kib"), by_round(cases[-1], "full_kib")
    return [(full[r] - before[r]) * 1024 / cases[-1]["x"] for r in sorted(full.keys() & before.keys())]


def _samples(bar, results):
    if bar.other:
        return ratios(results, bar.workload, bar.ours, bar.other)
    if bar.field:
        return list(by_round(case_of(results, bar.workload, bar.ours), bar.field).values())
    cases = list(results["workloads"][bar.workload]["cases"].values())
    return _time_growth(cases) if bar.growth == "time" else _memory_growth(cases)


def _failures(bar, results):
    cases = results["workloads"][bar.workload]["cases"]
    ours = cases.values() if bar.growth else filter(None, [cases.get(bar.ours)])
    return sum(len(case["failures"]) for case in ours)


def reaches(kind, number, low, high):
    if kind == AT_LEAST:
        return high >= number
    return low < number if kind == BELOW else low <= number


def judge(bar, results):
    verdict = Verdict(bar)
    if bar.workload not in results["workloads"]:
        verdict.why = "the workload was not run"
        return verdict
    samples = _samples(bar, results)
    verdict.samples = len(samples)
    verdict.measured = stats.summary(samples)
    if _failures(bar, results):
        # Figures of the runs that went well say nothing about one that did not.
        verdict.holds, verdict.why = False, "runs of it failed"
    elif verdict.measured:
        verdict.holds = reaches(bar.kind, bar.number, *verdict.measured[1:])
    else:
        verdict.why = "not measured"
    return verdict


def judge_all(results):
    """The verdicts on all bars but those that nobody asked for, be it the workload or a peer."""
    missing = {out["peer"] for out in results["left_out"]}

    def asked(bar):
        work = results["workloads"].get(bar.workload)
        if not work:
            return False
        needed = {bar.other} - {""} if bar.growth else {bar.ours, bar.other} - {""}
        return needed <= work["cases"].keys() | missing
    return [judge(bar, results) for bar in BARS if asked(bar)]


def check_plain(results):
    """For each checked workload: its key, (median, low, high) of plain's time by raw's, and good or not."""
    checks = []
    for workload in CHECKED:
        more = results["workloads"].get(workload, {}).get("more_is_better")
        pair = ("raw", "plain") if more else ("plain", "raw")
        measured = stats.summary(ratios(results, workload, *pair))
        if measured:
            low, high = PLAIN_BY_RAW
            checks.append((workload, measured, measured[2] >= low and measured[1] <= high))
    return checks

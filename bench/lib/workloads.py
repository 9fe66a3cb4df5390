"""The workloads: what a host is asked to do, and which figure of it counts."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Workload:
    key: str
    title: str
    arguments: tuple  # of the host; the COUNT or TIMES among them stands at `count`
    count: int
    unit: str  # µs, ms or requests/s
    detail: str = ""
    least: int = 1  # a slow peer's COUNT is not cut below this
    cores: int = 0  # 0: not pinned; 1: both programs on one core; 2: one each
    only: tuple = ()  # the peers that do it; all of them, if there is none

    @property
    def more_is_better(self):
        return self.unit == "requests/s"

    def with_count(self, count):
        arguments = list(self.arguments)
        arguments[self.count] = count
        return tuple(arguments)

    def value(self, arguments, fields):
        """The figure that counts, from what the host printed. Raises KeyError if it is not there."""
        kind = arguments[0]
        if kind == "latency":
            return fields["p50_us"]
        if kind in ("document", "start"):
            return fields["ms"]
        done = arguments[self.count] * (2 if kind == "both" else 1)
        return done / fields["seconds"] if self.more_is_better else fields["seconds"] / done * 1e6


def standard(document, quick):
    """W1 to W6, which every peer does, and the command. W7 and W8 are variants of the peer `duplex` in W2 and W1:
    with every message checked, and with a recording tap between the two ends."""
    part = 10 if quick else 1
    latency = ("latency", 20000 // part, 100)
    flood = 200000 // part
    return (
        Workload("W1-one", "W1 latency, one core", latency, 1, "µs", cores=1, least=1000,
                 detail="median of one round trip, 100 bytes, both programs on one core"),
        Workload("W1-two", "W1 latency, two cores", latency, 1, "µs", cores=2, least=1000,
                 detail="median of one round trip, 100 bytes, one core each"),
        Workload("W2", "W2 flood", ("flood", flood, 256, 165), 1, "requests/s", least=2560,
                 detail="165 bytes, 256 in flight"),
        Workload("W3", "W3 document", ("document", str(document), 3 if quick else 10), 2, "ms",
                 detail="16 MiB of JSON there and back"),
        Workload("W4", "W4 children", ("children", 64, flood, 8, 165), 2, "requests/s",
                 least=64 * 8 * 4, detail="64 children, 165 bytes, 8 in flight at each"),
        Workload("W5", "W5 start", ("start", 10 if quick else 50), 1, "ms", least=5,
                 detail="from before the start to the first answer"),
        Workload("W6", "W6 both ways", ("both", flood, 256, 165), 1, "requests/s", least=2560,
                 detail="both ends ask at once, 165 bytes, 256 in flight each way"),
        Workload("call", "duplex call", ("start", 10 if quick else 50), 1, "ms", least=5,
                 only=("plain", "duplex-call"),
                 detail="one run of the command, from its start to its end; plain: W5 again"),
    )


@dataclass(frozen=True)
class Curve:
    """W9: the same work at growing sizes, by Duplex alone."""
    key: str
    title: str
    axis: str
    memory: str  # the field with the host's memory; full_kib: with all calls of the window made
    points: tuple  # of (x, Workload)


def curves(quick):
    def flood(x, inflight, count, size):
        return x, Workload(f"{x}", "", ("flood", count, inflight, size), 1, "µs")

    def children(n):
        # As many as give each child of the largest run more than one turn.
        return n, Workload(f"{n}", "", ("children", n, 20000 if quick else 200000, 8, 165), 2, "µs")

    def size(bytes_):
        # Small ones many at a time, as in W2; of the large ones only one is ever under way.
        inflight = max(1, min(256, MIB // bytes_))
        count = max(3 if quick else 8, min(20000 if quick else 200000, 256 * MIB // bytes_))
        return flood(bytes_, inflight, count, bytes_)

    def pending(n):
        # The largest needs some turns of its window; a window of one pays a wake-up for each.
        count = 20000 if quick or n == 1 else 200000
        return flood(n, n, max(count, n if quick else 2 * n), 165)

    sizes = (100, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 * MIB, 16 * MIB, 64 * MIB)
    return (
        Curve("W9-pending", "W9 growth: pending calls", "pending calls", "full_kib",
              tuple(pending(n) for n in (1, 10, 100, 1000, 10000, 100000))),
        Curve("W9-children", "W9 growth: children", "children", "rss_kib",
              tuple(children(n) for n in (1, 4, 16, 64, 256, 1000))),
        Curve("W9-size", "W9 growth: size of a message", "bytes", "full_kib",
              tuple(size(n) for n in sizes)),
    )

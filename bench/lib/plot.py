"""The results as one SVG, for which nothing else is needed to look at it."""

from html import escape
from math import ceil, floor, log10
from statistics import median

from . import bars, report

# From the palette of Okabe and Ito, which stays apart for colour-blind eyes.
OURS, BASE, OTHERS = "#0072B2", "#E69F00", "#8C8C8C"
INK, FAINT, GRID = "#1a1a1a", "#5a5a5a", "#e2e2e2"
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

MARGIN, GAP = 28, 36
PANEL = 520  # the width of a panel; two stand side by side
WIDTH = 2 * MARGIN + 2 * PANEL + GAP
HEAD, ROW, FOOT = 52, 22, 26  # of a panel with bars
LABELS, VALUES = 112, 72  # left and right of the bars
CURVE_HEIGHT, CURVE_LEFT = 190, 64


def colour(name):
    if name.startswith("duplex"):
        return OURS
    return BASE if name == "raw" or name.startswith("plain") else OTHERS


def text(x, y, words, size=12, fill=INK, anchor="start", weight=None, halo=False):
    more = f' font-weight="{weight}"' if weight else ""
    more += ' stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" '
            f'text-anchor="{anchor}"{more}>{escape(words)}</text>')


def line(x1, y1, x2, y2, stroke=GRID):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'


def heading(x, y, title, detail):
    return [text(x, y + 14, title, 15, weight=600), text(x, y + 32, detail, 12, FAINT)]


class Log:
    """A logarithmic scale from a range of values to a range of pixels."""

    def __init__(self, low, high, begin, end):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value):
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.begin + share * (self.end - self.begin)

    def ticks(self, most=8):
        """Powers of ten, every second, third … of them if there are too many; 2 and 5 if too few."""
        first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
        step = 1 + (last - first) // most
        steps = (1, 2, 5) if last - first < 2 else (1,)
        ticks = [n * 10.0**power for power in range(first - 1, last + 1) for n in steps
                 if (power - first) % step == 0 or len(steps) > 1]
        return [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]


TIMES = ("ns", "µs", "ms", "s")


def short(number, unit=""):
    """A number for an axis."""
    if unit == "bytes":
        for size, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
            if number >= size:
                return f"{number / size:.3g} {name}"
        return f"{number:.0f} B"
    if unit in ("µs", "ms", "MiB"):
        at = TIMES.index(unit) if unit in TIMES else None
        while at is not None and number >= 1e3 and at + 1 < len(TIMES):
            number, at = number / 1e3, at + 1
        while at and number < 1:
            number, at = number * 1e3, at - 1
        return f"{number:.3g} {unit if at is None else TIMES[at]}"
    for size, name in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:.3g}"


def panels(results):
    """What the panels with bars show: title, detail, unit, whether more is better, values by name."""
    for work in report.standard(results).values():
        yield work["title"], work["detail"], work["unit"], work["more_is_better"], medians(work)
    idle = medians(results["workloads"].get("W5", {"cases": {}}), "idle_kib", 1 / 1024)
    if idle:
        yield "W5 memory", "of the echo program, when it has nothing to do", "MiB", False, idle


def medians(work, field=None, factor=1):
    found = {name: report.middle(case, field) for name, case in work["cases"].items()}
    return {name: value * factor for name, value in found.items() if value}


def bar_panel(title, detail, unit, more, found, x, y):
    """A bar for each peer, the best on top. Returns the elements and the height."""
    values = sorted(((value, name) for name, value in found.items()), reverse=more)
    better = "more is better" if more else "less is better"
    parts = heading(x, y, title, f"{detail} – {unit}, {better}")
    height = HEAD + ROW * len(values) + FOOT
    if not values:
        return parts, height

    # A bar on such a scale begins anywhere; it shall begin so that the shortest can still be seen.
    smallest, largest = min(values)[0], max(values)[0]
    low, high = 10 ** floor(log10(smallest / 1.5)), largest * 1.1
    scale = Log(low, max(high, low * 10), x + LABELS, x + PANEL - VALUES)
    top, bottom = y + HEAD - 6, y + HEAD + ROW * len(values)
    for tick in scale.ticks():
        parts += [line(scale(tick), top, scale(tick), bottom + 4),
                  text(scale(tick), bottom + 17, short(tick, unit), 11, FAINT, "middle")]
    for at, (value, name) in enumerate(values):
        row = y + HEAD + ROW * at
        fill = colour(name)
        parts += [text(x + LABELS - 8, row + 13, name, 12, INK, "end", 600 if fill == OURS else None),
                  f'<rect x="{scale.begin:.1f}" y="{row + 2:.1f}" width="{scale(value) - scale.begin:.1f}" '
                  f'height="{ROW - 7}" rx="2" fill="{fill}"/>',
                  text(scale(value) + 6, row + 13, report.amount(value, unit), 12)]
    return parts, height


def curve_panel(work, field, x, y):
    """A curve of W9: the time per message, or the field with the host's memory."""
    points = []
    for case in work["cases"].values():
        values = [value for value in bars.by_round(case, field).values() if value > 0]
        if values:
            points.append((case["x"], median(values) / (1024 if field else 1)))
    unit = "MiB" if field else work["unit"]
    what = f"memory of the host ({field})" if field else "time per message"
    parts = heading(x, y, work["title"], f"{what}, over {work['axis']}")
    if len(points) < 2:
        return parts + [text(x, y + HEAD + 10, "not measured", 12, FAINT)]

    xs, ys = zip(*points)
    # At least a decade, so that what is flat looks flat.
    spread = max(1.4, (20 / (max(ys) / min(ys))) ** 0.5)
    top, bottom = y + HEAD, y + HEAD + CURVE_HEIGHT
    across = Log(xs[0], xs[-1], x + CURVE_LEFT + 16, x + PANEL - 34)
    up = Log(min(ys) / spread, max(ys) * spread, bottom, top)
    for tick in up.ticks(5):
        parts += [line(x + CURVE_LEFT, up(tick), x + PANEL, up(tick)),
                  text(x + CURVE_LEFT - 8, up(tick) + 4, short(tick, unit), 11, FAINT, "end")]
    parts.append(line(x + CURVE_LEFT, bottom, x + PANEL, bottom, FAINT))
    path = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    axis_unit = "bytes" if work["axis"] == "bytes" else ""
    for a, b in points:
        parts += [f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="3.5" fill="{OURS}"/>',
                  text(across(a), up(b) - 9, report.amount(b, unit), 11, INK, "middle", halo=True),
                  text(across(a), bottom + 17, short(a, axis_unit), 11, FAINT, "middle")]
    return parts


def legend(y):
    parts, x = [], MARGIN
    for fill, words in ((OURS, "Duplex and its variants"), (BASE, "raw bytes and plain C"),
                        (OTHERS, "other libraries")):
        parts += [f'<rect x="{x}" y="{y - 10}" width="12" height="12" rx="2" fill="{fill}"/>',
                  text(x + 18, y, words, 12)]
        x += 190
    return parts


def svg(results):
    machine = results["machine"]
    quick = " – a quick run" if results["quick"] else ""
    parts = [text(MARGIN, 44, "Duplex compared with other libraries" + quick, 22, weight=600),
             text(MARGIN, 66, f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, "
                  f"{machine['date']}. Medians; all scales are logarithmic.", 12, FAINT),
             *legend(92)]
    left, right = MARGIN, MARGIN + PANEL + GAP
    y = 122
    shown = list(panels(results))
    for pair in (shown[at:at + 2] for at in range(0, len(shown), 2)):
        heights = []
        for x, what in zip((left, right), pair):
            panel, height = bar_panel(*what, x, y)
            parts += panel
            heights.append(height)
        y += max(heights) + 22
    for work in report.curves(results).values():
        parts += curve_panel(work, None, left, y) + curve_panel(work, work["memory"], right, y)
        y += HEAD + CURVE_HEIGHT + FOOT + 22
    height = y + 6
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="{escape(FONT)}">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")

"""The results as Markdown, and as JSON on the disk."""

import json
import os
from statistics import median

from . import bars, peers

HOLDS = {True: "yes", False: "**no**", None: "–"}


def digits(number):
    """About three significant digits."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def amount(number, unit):
    """A figure with its unit, in the size that reads best."""
    if unit == "requests/s":
        if number >= 1e6:
            return f"{digits(number / 1e6)} M/s"
        return f"{digits(number / 1e3)} k/s" if number >= 1e3 else f"{digits(number)} /s"
    if unit == "µs" and number < 1:
        return f"{digits(number * 1e3)} ns"
    if unit == "µs" and number >= 1e3:
        return amount(number / 1e3, "ms")
    if unit == "ms" and number >= 1e3:
        return f"{digits(number / 1e3)} s"
    if unit == "KiB" and number >= 10240:
        return f"{digits(number / 1024)} MiB"
    return f"{digits(number)} {unit}"


def middle(case, field=None):
    values = bars.by_round(case, field)
    return median(values.values()) if values else None


def table(head, rows):
    """A Markdown table that is readable as plain text too."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
                     for line in lines)


def standard(results):
    """The workloads that all peers do, with their keys."""
    return {key: work for key, work in results["workloads"].items() if work["kind"] == "peers"}


def curves(results):
    return {key: work for key, work in results["workloads"].items() if work["kind"] == "curve"}


def names(results):
    """The peers that have any figure, in the order of their table."""
    there = {name for work in standard(results).values()
             for name, case in work["cases"].items() if case["runs"]}
    return [peer.name for peer in peers.PEERS_TABLE if peer.name in there]


def _cell(results, key, name):
    work = results["workloads"][key]
    case = work["cases"].get(name)
    value = middle(case)
    if value is None:
        return "failed" if case and case["failures"] else ""
    text = amount(value, work["unit"])
    ratios = bars.ratios(results, key, name, "plain")
    return f"{text} ({digits(median(ratios))} ×)" if ratios and name != "plain" else text


def _main_table(results):
    works = standard(results)
    if not works:
        return []
    head = ["peer", *(work["title"] for work in works.values())]
    rows = [[name, *(_cell(results, key, name) for key in works)] for name in names(results)]
    return ["Medians; in brackets the median of the ratios to `plain`, each taken within one round.",
            table(head, rows)]


def _memory_table(results):
    wanted = [(key, field, title) for key, field, title in
              (("W5", "idle_kib", "idle echo program"), ("W4", "rss_kib", "host with 64 children"))
              if key in results["workloads"]]
    rows = []
    for name in names(results):
        values = [middle(bars.case_of(results, key, name), field) for key, field, _ in wanted]
        if any(value is not None for value in values):
            rows.append([name, *("" if value is None else amount(value, "KiB") for value in values)])
    return ["Memory (resident).", table(["peer", *(title for _, _, title in wanted)], rows)] if rows else []


def _curve_tables(results):
    parts = []
    for work in curves(results).values():
        rows = []
        for case in work["cases"].values():
            value, memory = middle(case), middle(case, work["memory"])
            rows.append([f"{case['x']:,}",
                         "failed" if value is None else amount(value, work["unit"]),
                         "" if memory is None else amount(memory, "KiB")])
        parts += [f"{work['title']} (Duplex).",
                  table([work["axis"], "time per message", f"host's {work['memory']}"], rows)]
    return parts


def _bar_table(results, verdicts):
    rows = []
    for verdict in verdicts:
        measured = interval = ""
        if verdict.measured:
            measured, low, high = map(digits, verdict.measured)
            interval = f"{low} – {high}"
        rows.append([verdict.bar.workload, verdict.bar.ours, verdict.bar.text(), measured, interval,
                     verdict.samples,
                     HOLDS[verdict.holds] + (f" ({verdict.why})" if verdict.why else "")])
    if not rows:
        return []
    return ["Bars: a bar holds if the 95 % interval of the measured ratio reaches it "
            "(with fewer than six rounds, the whole range counts).",
            table(["workload", "ours", "bar", "measured", "interval", "rounds", "holds"], rows)]


def _check(results):
    low, high = bars.PLAIN_BY_RAW
    return [f"Sanity check: in {key}, `plain` takes {digits(ratio)} times as long as `raw` "
            f"(95 % interval {digits(begin)} – {digits(end)}). "
            f"The interval overlaps the expected range of {low} to {high}: {HOLDS[good]}."
            for key, (ratio, begin, end), good in bars.check_plain(results)]


def _notes(results):
    lines = [f"- skipped: {out['peer']}: {out['why']}" for out in results["left_out"]]
    for key, work in results["workloads"].items():
        for name, case in work["cases"].items():
            if "scaled" in case:
                lines.append(f"- {key}, {name}: {case['scaled']['to']:,} instead of "
                             f"{case['scaled']['from']:,}; {case['scaled']['why']}")
            for failure in case["failures"]:
                where = "the trial" if failure["round"] == "trial" else f"round {failure['round'] + 1}"
                lines.append(f"- {key}, {name}: failed in {where}: {failure['why']}")
    return ["Notes.", "\n".join(lines)] if lines else []


def markdown(results):
    machine = results["machine"]
    quick = " **This was a quick run; do not quote its figures.**" if results["quick"] else ""
    parts = ["# Duplex compared with other libraries",
             f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, {machine['date']}.{quick}",
             *_main_table(results), *_memory_table(results), *_curve_tables(results),
             *_bar_table(results, bars.judge_all(results)), *_check(results), *_notes(results)]
    return "\n\n".join(parts) + "\n"


def write(path, text):
    """All of it or nothing."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def save(path, results):
    write(path, json.dumps(results, ensure_ascii=False, indent=1) + "\n")

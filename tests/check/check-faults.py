#!/usr/bin/env python3
"""check-faults.py DUPLEX PEER host|plugin|peers|all [NAME...]: each fault of duplex mock, and each wrong
peer, is found by duplex check under its name, and nothing is found where nothing is wrong. With "all" also:
every check can fail."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

duplex, peer, part = sys.argv[1:4]
names = sys.argv[4:]

# Fault, and the check that must fail; where the two framings differ, first that with headers.
FAULTS = {
    "charset": "framing.charset", "header-lf": "framing.line-end", "length-missing": "framing.length",
    "length-twice": "framing.length", "length-differs": "framing.length", "length-form": "framing.length",
    "length-digits": "framing.limit", "length-limit": "framing.limit", "length-unmet": "framing.whole",
    "length-short": "framing.length", "length-long": ("framing.whole", "framing.length"), "length-zero": "json.valid",
    "header-flood": "framing.header-limit", "header-nul": "framing.stray", "stray-before": "framing.stray",
    "cut-header": "framing.whole", "cut-body": "framing.whole", "line-endless": "framing.limit", "bom": "framing.bom",
    "pretty": "json.valid", "last-line": "framing.last-line", "stray": "framing.stray", "stray-json": "envelope.kind",
    "other-framing": "framing.kind", "framing-switch": "framing.kind", "interleaved": "json.valid",
    "raw-newline": "json.valid", "deep": "json.depth", "utf8-invalid": "json.utf8", "utf8-overlong": "json.utf8",
    "surrogate": "json.value", "member-twice": "envelope.members", "number-huge": "json.value", "id-fraction": "id.whole",
    "trailing": "json.valid", "not-json": "json.valid", "id-unknown": "id.known", "late": "answer.in-time",
    "answer-twice": "id.once", "id-form": "id.echoed", "result-and-error": "envelope.answer",
    "result-missing": "envelope.answer", "method-and-result": "envelope.answer", "id-in-use": "id.unique",
    "id-type": "envelope.id", "version-missing": "envelope.version", "version-wrong": "envelope.version",
    "method-unknown": "method.known", "answers-unknown": "request.unknown-method", "params-type": "envelope.params",
    "params-taken": "request.params-fit", "result-fit": "schema.result", "answers-notice": "notification.silent",
    "batch": "envelope.batch", "batch-empty": "envelope.batch", "early": "state.kept", "serves-early": "start.early-served",
    "cancel-unknown": "cancel.known", "cancel-ignored": "cancel.heeded", "progress-unknown": "progress.asked",
    "progress-endless": "answer.given", "error-shape": "envelope.error", "silent": "answer.given", "loses": "answer.given",
    "deaf": "input.read", "dies-writing": "framing.whole", "eof-ignored": "end.eof", "stuck": "answer.flushed",
    "exit": "life.stays", "signal": "life.stays", "closes-output": "life.output", "grandchild": "end.processes",
    "term-ignored": "end.term",
}  # fmt: skip
# What a plugin cannot see of its host, or does not live to tell: docs/mock.md says why.
NOT_OF_HOSTS = {"serves-early", "dies-writing", "eof-ignored", "term-ignored", "exit", "signal", "closes-output"}
# What it is seen by, where that is not the same.
OF_HOSTS = {"grandchild": "answer.given"}
# Those that take their time: bytes, or a second for each answer.
SLOW = {"cancel-ignored": "2500ms", "flood": "5s", "huge": "10s", "keys": "10s", "split": "5s", "writes-first": "5s"}

# As a host, duplex mock leaves after two seconds: by then it is to be known.
AS_PLUGIN = {"late": "600ms", "progress-endless": "200ms"}

# A mode of check-peer.py, the check that must fail or note something, and how it is run.
PEERS = {
    "lsp-early-code": "start.early-code", "after-early": "start.after-early", "state-early": "state.early",
    "large-id": "id.large", "fraction": "id.fraction", "duplicate": "id.duplicate", "null-id": "id.null",
    "params-type": "request.params-type", "params-code": "request.params-code", "not-one": "request.not-a-request",
    "invalid": "request.invalid-json", "invalid-code": "request.invalid-json", "batch-dies": "request.batch",
    "batch-empty-dies": "request.batch-empty", "response": "response.unknown", "many": "many.answered",
    "together": "input.together", "pieces": "input.pieces", "line-ends": "input.line-ends", "space": "input.space",
    "large": "input.large", "slow": "output.slow-reader", "cancel-unknown": "cancel.unknown", "eof-quiet": "end.eof-quiet",
    "killed": "end.killed", "method-side": "method.side", "method-kind": "method.kind", "method-type": "envelope.method",
    "schema-params": "schema.params", "params-array": "envelope.params",
    "header-case": "input.header-case", "header-blanks": "input.header-blanks", "header-extra": "input.header-extra",
    "header-syntax": "framing.header", "lsp-cancel": "cancel.answered", "lsp-stop": "end.stop-answered",
    "lsp-code": "end.code", "lsp-early": "start.early", "names": "request.method-name", "names-taken": "request.method-name",
    "deep": "input.deep", "large-lost": "input.large", "characters": "input.pieces", "progress-order": "progress.order",
    "progress-late": "progress.asked", "lsp-token": "progress.asked", "lsp-progress-order": "progress.order",
}  # fmt: skip
HEADER_MODES = ("header-", "lsp-")

# Nobody here can make a schema take too long; start.answered and end.stop fail in check-check.sh.
NEVER = {"schema.unchecked", "start.answered", "end.stop", "request.batch-refused"}

failed = []
found = set()


def read(text, what):
    outcomes = {}
    for line in text.splitlines():
        row = json.loads(line)
        if "check" in row:
            outcomes[row["check"]] = row
    if not outcomes:
        failed.append(f"{what}: no results")
    return outcomes


def judge(what, outcomes, expected, code=None):
    wrong = sorted(name for name, row in outcomes.items() if row["outcome"] == "fail")
    noted = {name for name, row in outcomes.items() if row["outcome"] == "note"}
    found.update(wrong, noted)
    if expected is None:
        if wrong or code not in (0, None):
            failed.append(f"{what}: nothing is wrong, but code {code}: {wrong} {[outcomes[n] for n in wrong][:2]}")
        return
    wanted = expected if isinstance(expected, tuple) else (expected,)
    if not any(name in wrong or name in noted for name in wanted):
        failed.append(f"{what}: expected {expected}, found {wrong}, {sorted(noted)}, code {code}")
    if code is not None and code != (7 if wrong else 0):
        failed.append(f"{what}: code {code}")


def run(words, seconds=120):
    try:
        done = subprocess.run(words, capture_output=True, timeout=seconds)
        return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(), "too late"


def times(name, usual="600ms"):
    return ["-t", SLOW.get(name, usual), "--start-timeout", "20s", "--stop-timeout", "900ms"]


def mock(name, framing):
    late = ["--late", "800ms"] if name == "late" else []
    return [duplex, "mock", "-p", "mcp", "-f", framing, *late, "--fault", name]


def as_host(name, wrong, framing):
    code, out, err = run([duplex, "check", "-p", "mcp", "-f", framing, "--json", *times(name), "--", *mock(name, framing)])
    judge(f"{name}, {framing}, as a plugin", read(out, f"{name}: {err}"), FAULTS[name] if wrong else None, code)


def as_plugin(name, wrong, framing):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        own = [duplex, "check", "--as-plugin", "-p", "mcp", "-f", framing, "--json", "-o", report, *times(name, AS_PLUGIN.get(name, "400ms"))]
        # What takes a second for each answer takes its time with all of them.
        longer = ["-t", "60s"] if name == "cancel-ignored" else []
        _, _, err = run([*mock(name, framing), *longer, "--", *own])
        text = open(report).read() if os.path.exists(report) else ""
    judge(f"{name}, {framing}, as a host", read(text, f"{name} as a host: {err}"), OF_HOSTS.get(name, FAULTS[name]) if wrong else None)


def one_peer(mode):
    header = mode.startswith(HEADER_MODES)
    protocol = "lsp" if mode.startswith("lsp-") else "mcp"
    words = [sys.executable, "-S", "-E", peer, mode, *(["header"] if header else [])]
    code, out, err = run([duplex, "check", "-p", protocol, "-f", "header" if header else "line", "--json", *times(mode), "--", *words])
    judge(f"peer {mode}", read(out, f"{mode}: {err}"), PEERS.get(mode), code)


def jobs():
    rows = [json.loads(line) for line in run([duplex, "mock", "--list-faults", "--json"])[1].splitlines()]
    known = {row["name"] for row in rows if row["wrong"]}
    if known != set(FAULTS):
        failed.append(f"the table and duplex mock differ: {known ^ set(FAULTS)}")
    for row in rows:
        name = row["name"]
        if names and name not in names:
            continue
        for framing in ("header", "line"):
            if row["framing"] not in ("any", framing):
                continue
            if part in ("host", "all"):
                yield as_host, (name, row["wrong"], framing)
            if part in ("plugin", "all") and name not in NOT_OF_HOSTS:
                yield as_plugin, (name, row["wrong"], framing)
    for mode in [*PEERS, "good", "lsp-good", "lsp-progress", "lsp-last-words"]:
        if part in ("peers", "all") and (not names or mode in names):
            yield one_peer, (mode,)


with ThreadPoolExecutor(2) as pool:
    for future in [pool.submit(function, *arguments) for function, arguments in list(jobs())]:
        future.result()
if part == "all":
    rows = [json.loads(line) for line in run([duplex, "check", "--list", "--json"])[1].splitlines()]
    never = {row["check"] for row in rows} - found - NEVER
    if never:
        failed.append(f"these never failed: {sorted(never)}")
for line in failed:
    print(line)
sys.exit(bool(failed))

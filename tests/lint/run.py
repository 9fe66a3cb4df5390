"""Traces with one flaw each, and what duplex lint says of them.

    run.py DUPLEX CASES            compares
    run.py --write DUPLEX CASES    writes what is said into CASES: to be read before it is kept

A case begins with "## NAME | PROTOCOL". Its lines are a trace, behind a header unless "@headless"
stands there; "@cut" takes the last newline away. Behind ">" stands what is printed, behind "=" the
same with --json, behind "!" the summary.
"""
import os
import subprocess
import sys
import tempfile

HEADER = '{"duplex-trace":1,"time":"us","part":1}'
HERE = os.path.dirname(os.path.abspath(__file__))
SLOW = """{"openrpc": "1.3.2", "info": {"title": "Slow", "version": "1"},
 "x-duplex": {"name": "slow", "framing": "line", "batch": true, "lenient": ["lf", "stray", "no-version"]},
 "methods": [{"name": "look", "summary": "Looks.", "params": [{"name": "for", "schema": {"type": "string"}}],
   "x-duplex": {"from": "host", "notification": true,
     "params": {"type": "object", "properties": {"for": {"pattern": "^(a+)+$"}}}}}]}
"""


class Case:
    def __init__(self, head):
        self.name, _, self.protocol = (part.strip() for part in head.partition("|"))
        self.trace, self.text, self.json, self.summary = [], [], [], []

    def bytes(self):
        lines = [line for line in self.trace if not line.startswith("@")]
        if "@headless" not in self.trace:
            lines.insert(0, HEADER)
        text = "\n".join(lines) + ("" if "@cut" in self.trace else "\n")
        return text.encode()

    def write(self, out):
        print("## " + self.name + (" | " + self.protocol if self.protocol else ""), file=out)
        for line in self.trace:
            print(line, file=out)
        for mark, lines in ((">", self.text), ("=", self.json), ("!", self.summary)):
            for line in lines:
                print(mark + " " + line, file=out)
        print(file=out)


def read_cases(path):
    cases = []
    marks = {">": "text", "=": "json", "!": "summary"}
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                cases.append(Case(line[3:]))
            elif cases and line[:1] in marks:
                getattr(cases[-1], marks[line[0]]).append(line[2:])
            elif cases and line:
                cases[-1].trace.append(line)
    return cases


def run(duplex, case, folder, more):
    protocol = {"": [], "sixth": ["-p", HERE + "/../sixth/sixth.openrpc.json"],
                "slow": ["--protocol=" + folder + "/slow.json"]}.get(case.protocol, ["-p", case.protocol])
    done = subprocess.run([duplex, "lint", *more, *protocol, "t.jsonl"], cwd=folder, timeout=20,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode().splitlines()


def main():
    write = sys.argv[1] == "--write"
    duplex, path = os.path.abspath(sys.argv[-2]), sys.argv[-1]
    cases = read_cases(path)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/slow.json", "w", encoding="utf-8") as file:
            file.write(SLOW)
        for case in cases:
            with open(folder + "/t.jsonl", "wb") as file:
                file.write(case.bytes())
            code, text, errors = run(duplex, case, folder, [])
            json_code, json, json_errors = run(duplex, case, folder, ["--json"])
            if write:
                case.text, case.json, case.summary = text, json, errors
            expected = 7 if any(": note: " not in line for line in case.text) else 0
            if (text, json, errors, json_errors) != (case.text, case.json, case.summary, []) or \
                    (code, json_code) != (expected, expected):
                print(f"{case.name}: exit codes {code} and {json_code}, expected {expected}",
                      *text, *json, *errors, *json_errors, sep="\n    ")
                failed += 1
    if write:
        with open(path, "w", encoding="utf-8") as file:
            for case in cases:
                case.write(file)
    print(f"{len(cases)} traces, {failed} failures")
    return failed != 0


sys.exit(main())

"""Runs what the help of a command shows.

usage: help-examples.py PROGRAM COMMAND [SUBCOMMAND...]     in a folder where the examples can run

The first line of each help says what to do, there are three examples or more, and at most 60 lines. Every example runs as
pasted, with nothing on its standard input.
"""
import os
import re
import subprocess
import sys


def examples(text):
    """The commands below "Examples:"; one that is folded is pasted with its further lines."""
    part = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^    ((?:.*\\\n)*.*)\n", part[1] if part else "", re.M)


def main():
    program, command, subcommands = sys.argv[1], sys.argv[2], sys.argv[3:]
    wrong = []
    for words in [[command]] + [[command] + one.split() for one in subcommands]:
        name = " ".join(words)
        text = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout
        first = text.split("\n", 1)[0]
        found = examples(text)
        if not re.fullmatch(r"[A-Z][^.]*", first):
            wrong.append("%s: the first line is '%s'" % (name, first))
        if text.count("\n") > 60:
            wrong.append("%s: %d lines" % (name, text.count("\n")))
        if "\nUsage: duplex %s" % name not in text:
            wrong.append("%s: no usage" % name)
        if len(found) < 3:
            wrong.append("%s: %d examples" % (name, len(found)))
        for line in found:
            if os.environ.get("SKIP") and re.search(os.environ["SKIP"], line):
                continue
            try:
                # Nobody has to wait ten seconds to see that it ends.
                done = subprocess.run(["bash", "-c", line.replace("--for 10s", "--for 1s")], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
                if done.returncode:
                    wrong.append("%s: %s: exit code %d: %s%s" % (name, line, done.returncode, done.stdout[-1000:], done.stderr[-1000:]))
            except subprocess.TimeoutExpired:
                wrong.append("%s: %s: does not end" % (name, line))
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()

"""What is known of the real Reginald on the wire, row by row: ours does it right, and with --revision
exact has its defects.

    rows_NAME.py BUILD [ROW...]      all rows of a chapter, or these: 07, 18-long

A row is a function, and talks raw bytes: see guests.py. Rows 01 to 25 are those of what is known of the
seed and of generation A; the ones after that are what else was promised. Numbers with an R are errata of
the protocol's document, numbers with an F are faults of the catalogue. This file has what they share.
"""
import os
import sys

sys.dont_write_bytecode = True
import guests
from guests import PATIENCE, WORK, Host, Plugin, Wrong, frame, is_there, same, setting, shown, text_of, true

BUILD = ""
ALL = (None, "gen-a", "seed", "exact")
# Longer than what is told at once can take, on a machine that is busy.
PATIENT = ("--handshake-timeout", "25s")
ECHO = '[[tasks]]\ntype = "echo"\nconfig = {msg = "%s"}\n'


def host(*words, **rest):
    return Host(BUILD, *words, **rest)


def plugin(name="sleep"):
    return Plugin(os.path.join(BUILD, "examples", "reginald-" + name))


def processes_of(folder):
    """The command lines that have that folder in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if folder.encode() in line:
            found.append(line)
    return found


def prepare(build):
    global BUILD
    BUILD = build


def main(rows):
    return guests.raw.run_rows(rows, prepare)

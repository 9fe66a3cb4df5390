"""What the attacks share: how to run a program, and how to measure it from outside.

Each `def attack_NAME()` in an attack_*.py file is one test, attack.NAME; a name that ends in _long
runs only with --all.

    attack_FILE.py BUILD [NAME...]      all attacks of that file, or these
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "hermes"))
from raw import PATIENCE, Skip, Wrong, eventually, is_gone, is_there, same, shown, slowness, true

BUILD = ""
IS_ASAN = False
MB = 1000 * 1000
MIB = 1 << 20


def duplex(*words):
    """The command line of our command."""
    return [os.path.join(BUILD, "duplex"), *words]


def python(code, *words):
    """The command line of a hostile program that is a few lines of Python."""
    return [sys.executable, "-IS", "-c", code, *words]


def time_bound(seconds):
    """A bound on time; sanitizers are slow."""
    return seconds * (5 if IS_ASAN else 1)


def memory_bound(size):
    """A bound on resident memory; sanitizers need up to four times as much."""
    return size * (4 if IS_ASAN else 1)


def status_of(pid, name):
    """A size from /proc/PID/status in bytes; None if the process is gone."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def processes_with(mark):
    """The processes whose command line contains `mark`: (pid, command line)."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line and is_there(int(name)):
            found.append((int(name), line))
    return found


class Program:
    """A process whose peak of resident memory is sampled from outside while it runs. Its output
    goes to files, so that a flood needs no reader; `input` is bytes for its standard input."""

    def __init__(self, argv, input=None, env=None, cwd=None, stdin=None):
        self.place = tempfile.mkdtemp(prefix="attack-")
        self.argv = argv
        self.began = time.monotonic()
        self.peak = 0
        # What was freed is kept for a while by the address sanitizer: that is not what is measured.
        asan = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=64"} if IS_ASAN else {}
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            self.child = subprocess.Popen(
                argv, stdin=stdin if stdin is not None else subprocess.PIPE, stdout=out, stderr=err,
                env={**os.environ, **asan, **(env or {})}, cwd=cwd, start_new_session=True)
        self.pid = self.child.pid
        self.sampler = threading.Thread(target=self.sample, daemon=True)
        self.sampler.start()
        self.writer = None
        if input is not None:
            self.writer = threading.Thread(target=self.write, args=(input,), daemon=True)
            self.writer.start()

    def path(self, name):
        return os.path.join(self.place, name)

    def sample(self):
        while self.child.returncode is None:
            self.peak = max(self.peak, status_of(self.pid, "VmHWM") or 0)
            time.sleep(0.01)

    def write(self, data):
        try:
            self.child.stdin.write(data)
            self.child.stdin.close()
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()
        if kind:
            print("# %s" % " ".join(shown(word) for word in self.argv[:8]))
            print("# peak %d MB; it said: %s" % (self.peak / MB, shown(self.said())))
            print("# it printed: %s" % shown(self.printed()))
        shutil.rmtree(self.place, ignore_errors=True)

    def wait(self, seconds):
        """Its exit code; it must end within so many seconds of its start."""
        left = self.began + time_bound(seconds) - time.monotonic()
        try:
            return self.child.wait(max(0.01, left))
        except subprocess.TimeoutExpired:
            raise Wrong("still running %.1f s after its start" % (time.monotonic() - self.began)) from None

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def printed(self):
        return self.read("out")

    def said(self):
        """Its standard error."""
        return self.read("err")

    def below(self, size):
        """Its peak of resident memory stayed below that."""
        true(self.peak <= memory_bound(size), "%d MB resident, %d allowed" % (self.peak / MB, memory_bound(size) / MB))

    def is_sane(self):
        """No sanitizer found anything."""
        said = self.said()
        true("Sanitizer" not in said and "runtime error" not in said, said[-3000:])


def run(argv, seconds, memory=100 * MB, **more):
    """Runs a program to its end, within these bounds: its exit code, standard output and error."""
    with Program(argv, **more) as program:
        code = program.wait(seconds)
        program.below(memory)
        program.is_sane()
        return code, program.printed(), program.said()


def main(attacks):
    """All functions attack_NAME of a file, or those that the command line names."""
    global BUILD, IS_ASAN
    BUILD = os.path.abspath(sys.argv[1])
    IS_ASAN = slowness(BUILD) > 1
    names = sys.argv[2:] or [name[len("attack_"):] for name in attacks if name.startswith("attack_")]
    failed = 0
    for name in names:
        try:
            attacks["attack_" + name]()
            print("ok - %s" % name)
        except Skip as why:
            print("%s: %s" % (name, why))
            return 77
        except Exception as wrong:  # a fault of the test is a failure as well
            failed += 1
            if not isinstance(wrong, Wrong):
                traceback.print_exc(file=sys.stdout)
            print("not ok - %s: %s" % (name, wrong))
    return 1 if failed else 0

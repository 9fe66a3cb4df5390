#!/usr/bin/env bash
# duplex finecode over 200 projects with a real tool, beside GNU parallel -j2 with the same tool: its time, its memory and
# the descriptors that it needs.
set -euo pipefail
for tool in python3 cppcheck parallel; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 HOME=$work XDG_STATE_HOME=$work/state PYTHONDONTWRITEBYTECODE=1
for number in $(seq -w 200); do
    mkdir -p "$work/ws/p$number"
    cp "$SOURCE"/src/base/*.c "$work/ws/p$number/"
    printf '[finecode.er]\nrunner = "duplex"\n[finecode.action.lint]\nsource = "duplex.Lint"\nhandlers = [{name = "cppcheck", source = "duplex.cppcheck", env = "c"}]\n' >"$work/ws/p$number/finecode.toml"
done
exec python3 - "$BUILD/duplex-finecode" "$work/ws" <<'END'
import json
import os
import resource
import statistics
import subprocess
import sys
import time

program, workspace = sys.argv[1:]


def children(pid):
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return [pid] + [each for child in found for each in children(child)]


def memory(pid):
    """KiB of the tree that nobody else has."""
    total = 0
    for each in children(pid):
        try:
            with open("/proc/%d/smaps_rollup" % each, encoding="ascii") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except OSError:
            pass
    return total


def run(argv, watch=False):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with open("/dev/null", "wb") as nowhere, open(os.path.join(workspace, "..", "out"), "wb") as out:
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=nowhere, preexec_fn=limit)
        most = 0
        while watch and child.poll() is None:
            most = max(most, memory(child.pid))
            time.sleep(0.02)
        code = child.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return code, time.monotonic() - begin, used, most


def ours(*more):
    return [program, "-w", workspace, "--jobs", "2", "--json", *more, "run", "lint"]


projects = sorted(os.path.join(workspace, name) for name in os.listdir(workspace))
script = 'cd {} && cppcheck --quiet --template="{file}:{line}" --template-location= *.c'
theirs = ["parallel", "--will-cite", "-j2", script, ":::", *projects]
walls, cpus = ([], []), ([], [])
for _ in range(3):
    for which, argv in enumerate((ours(), theirs)):
        code, wall, cpu, _ = run(argv)
        assert code in (0, 1), code
        walls[which].append(wall)
        cpus[which].append(cpu)
wall = [statistics.median(each) for each in walls]
cpu = [statistics.median(each) for each in cpus]
few = [word for name in projects[:2] for word in ("--project", name)]
alone, all_of_them = run(ours(*few), True)[3], run(ours(), True)[3]
with open(os.path.join(workspace, "..", "out"), encoding="utf-8") as file:
    done = [json.loads(line) for line in file if '"project"' in line]
print("200 projects: %.1f s beside %.1f s, processors %.1f s beside %.1f s; memory %d KiB, of two projects %d KiB"
      % (wall[0], wall[1], cpu[0], cpu[1], all_of_them, alone))
assert len([each for each in done if each["event"] == "project" and each["status"] == "success"]) == 200, len(done)
# On a busy machine the time says nothing, but what the processors had to do does.
assert cpu[0] <= 1.1 * cpu[1], cpu
assert wall[0] <= 1.1 * wall[1] or os.getloadavg()[0] > 3, wall
assert all_of_them <= 1.5 * alone + 8192, (all_of_them, alone)
END

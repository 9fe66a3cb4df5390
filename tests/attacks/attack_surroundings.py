"""Surroundings that are not what a program expects: no /proc, nothing that can be written, a clock that jumps."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import attack
from attack import PATIENCE, Program, Skip, duplex, eventually, python, run, same, true


def example(name):
    return os.path.join(attack.BUILD, "examples", name)


def no_proc(argv):
    """The same command line with an empty folder in the place of /proc."""
    start = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if attack.IS_ASAN:
        raise Skip("the address sanitizer needs /proc")
    if subprocess.run([*start, "true"], capture_output=True, check=False).returncode:
        raise Skip("no namespace in which /proc could be hidden")
    return [*start, *argv]


def attack_surroundings_no_proc():
    call = duplex("call", "-f", "line", "echo", "x=1", "--", example("echo"), "line")
    same(run(no_proc(call), PATIENCE)[:2], (0, '{"x":"1"}\n'), "call")
    code, printed, said = run(no_proc(duplex("mcp", "tools", "--", example("mcp-adder"))), PATIENCE)
    true(code == 0 and "add" in printed, said)
    files = duplex("mcp", "serve", "files", attack.HERE)
    code, printed, said = run(no_proc(duplex("mcp", "tools", "--", *files)), PATIENCE)
    true(code == 0 and "read_file" in printed, said)
    asked = b'{"jsonrpc":"2.0","id":1,"method":"autohand.getState"}\n'
    with tempfile.TemporaryDirectory() as home:
        code, printed, said = run(no_proc(duplex("autohand", "agent", "--home", home)), PATIENCE, input=asked)
    true(code == 0 and '"status":"idle"' in printed, said)
    with tempfile.TemporaryDirectory() as place:
        config = os.path.join(place, "run.json")
        with open(config, "w", encoding="ascii") as file:
            json.dump({"duplex": 1, "peers": {"a": {"command": [example("echo"), "line"], "framing": "line"}}}, file)
        with Program(no_proc(duplex("run", "--config", config))) as program:
            eventually(lambda: "a: ready" in program.said() + program.printed(), "the peer of a run is ready")
            program.child.terminate()
            program.wait(PATIENCE)
            program.is_sane()


def attack_surroundings_read_only():
    """A working folder and a home that cannot be written: what needs none works, the rest says so in one line."""
    if os.geteuid() != 0:
        raise Skip("only root can be another user")
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
    if subprocess.run([*drop, *duplex("--version")], capture_output=True, check=False).returncode:
        raise Skip("another user cannot run what was built here")
    place = tempfile.mkdtemp(prefix="attack-read-only-")
    os.chmod(place, 0o555)
    env = {"HOME": place, "XDG_RUNTIME_DIR": place, "XDG_STATE_HOME": place, "XDG_CONFIG_HOME": place,
           "XDG_CACHE_HOME": place, "XDG_DATA_HOME": place, "TMPDIR": place}
    try:
        def user(*words, **more):
            return run([*drop, *duplex(*words)], PATIENCE, env=env, cwd=place, **more)
        echo = ("--", example("echo"), "line")
        same(user("call", "-f", "line", "echo", "x=1", *echo)[:2], (0, '{"x":"1"}\n'), "call")
        code, printed, said = user("mcp", "tools", "--", *duplex("mcp", "serve", "files", place))
        true(code == 0 and "read_file" in printed, said)
        code, printed, said = user("call", "-o", "trace.jsonl", "-f", "line", "echo", *echo)
        true(code == 2 and said.count("\n") == 1 and "trace.jsonl" in said, said)
        code, printed, said = user("repl", "-f", "line", *echo, input=b"echo [1]\n")
        true(code == 0 and "[1]" in printed, said)
        code, printed, said = user("autohand", "agent", stdin=subprocess.DEVNULL)
        true(code in (0, 1) and said.count("\n") <= 2, said)
        code, printed, said = user("finecode", "list", stdin=subprocess.DEVNULL)
        true(said.count("\n") <= 1, said)
        code, printed, said = user("reginald", "plugins", stdin=subprocess.DEVNULL)
        true(said.count("\n") - said.count("\nhint: ") <= 1, said)
    finally:
        shutil.rmtree(place, ignore_errors=True)


# A program that sets the clock of its host by a day while it is asked something, and answers after a second.
JUMP = r"""
import json, sys, time
for line in sys.stdin:
    id = json.loads(line)["id"]
    with open(sys.argv[1], "w") as file:
        file.write(sys.argv[2])
    time.sleep(1)
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": "late"}), flush=True)
"""


def attack_surroundings_clock_jumps():
    """The time of day jumps by a day, forwards and backwards: no call ends early, none late, and the times of a
    recording still grow."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Skip("libfaketime is not installed")
    if attack.IS_ASAN:
        raise Skip("libfaketime and the address sanitizer don't go together")
    place = tempfile.mkdtemp(prefix="attack-clock-")
    clock = os.path.join(place, "clock")
    trace = os.path.join(place, "trace.jsonl")
    env = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1",
           "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    try:
        for jump in "+86400", "-86400":
            with open(clock, "w", encoding="ascii") as file:
                file.write("+0")
            argv = duplex("call", "--clean-env", "-f", "line", "-t", "20s", "-o", trace, "x", "--", *python(JUMP, clock, jump))
            same(run(argv, PATIENCE, env=env)[:2], (0, '"late"\n'), "jump %s" % jump)
            with open(trace, encoding="utf-8") as file:
                times = [json.loads(line).get("t", 0) for line in file]
            true(times == sorted(times), "the times of the recording: %s" % times)
            with open(clock, "w", encoding="ascii") as file:
                file.write("+0")
            argv = duplex("call", "--clean-env", "-f", "line", "-t", "500ms", "x", "--", *python(JUMP, clock, jump))
            code, _, said = run(argv, PATIENCE, env=env)
            true(code == 5 and "500 ms" in said, said)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))

"""What the command makes of it."""
import json
import os
import sys
import time

import rows
import guests
from rows import ALL, PATIENCE, frame, host, processes_of, same, shown, true


KNOBS = {"name": "work", "usage": "work", "configs": [
    {"key": "a-b", "value": "default", "type": "string", "flag": {"name": "ab", "shorthand": "a"}},
    {"key": "n", "value": 1, "type": "int", "flag": {}},
    {"key": "on", "value": False, "type": "bool", "flag": {"shorthand": "o"}},
    {"key": "env", "value": "default", "type": "string", "envOverride": "OTHER_NAME"},
    {"key": "only", "value": "default", "type": "string", "flag": {}, "flagOnly": True},
]}
KNOB_FILE = '[commands.work]\na-b = "file"\nn = 2\non = true\nenv = "file"\n'
KNOB_ENV = {"REGINALD_WORK_A_B": "env", "REGINALD_WORK_N": "3", "REGINALD_OTHER_NAME": "env", "REGINALD_WORK_ONLY": "env"}


def row_28():
    """Flags win over the environment, that over the file, that over the default; values that do not fit are told."""
    cases = (
        ((), None, {}, {"a-b": "default", "n": 1, "on": False, "env": "default", "only": "default"}),
        ((), KNOB_FILE, {}, {"a-b": "file", "n": 2, "on": True, "env": "file", "only": "default"}),
        ((), KNOB_FILE, KNOB_ENV, {"a-b": "env", "n": 3, "on": True, "env": "env", "only": "default"}),
        (("--", "--ab=flag", "--n", "-4", "-o", "--only", "flag"), KNOB_FILE, KNOB_ENV,
         {"a-b": "flag", "n": -4, "on": True, "env": "env", "only": "flag"}),
        (("--", "-a", "Å", "--on=false"), KNOB_FILE, {}, {"a-b": "Å", "n": 2, "on": False, "env": "file", "only": "default"}),
    )
    for flags, config, env, wanted in cases:
        with host("work", *flags, config=config, env=env) as ours:
            guest = ours.guest()
            asked = guest.run(commands=[KNOBS])
            got = {each["key"]: each["value"] for each in guest.setup["params"].get("config", [])}
            same({**{each["key"]: each["value"] for each in KNOBS["configs"]}, **got}, wanted, "%s %s" % (flags, env))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
    wrong = (
        (("--", "--n", "x"), None, {}), (("--", "--nn", "1"), None, {}), ((), '[commands.work]\nn = "x"\n', {}),
        ((), "[commands.work]\nonly = 1\n", {}), ((), None, {"REGINALD_WORK_N": "x"}), (("--", "--n"), None, {}),
        ((), "[commands.work]\nno-such = 1\n", {}),
    )
    for flags, config, env in wrong:
        with host("work", *flags, config=config, env=env) as ours:
            guest = ours.guest()
            guest.start(commands=[KNOBS])
            guest.farewell()
            ours.child.wait(PATIENCE)
            true(ours.child.returncode in (2, 7), "%s %s %s: %d" % (flags, config, env, ours.child.returncode))
            true(ours.said(), "it is not told")
    # Words behind the options are the command's.
    with host("work", "one", "--n", "5", "two words") as ours:
        guest = ours.guest()
        guest.reply(guest.run(commands=[KNOBS]), {})
        same(guest.setup["params"]["args"], ["one", "two words"], "the words")
        guest.farewell()
        ours.ended(0)


def row_30():
    """Tasks that need others wait for them, the rest runs at once; one that fails takes only those with it that need it."""
    file = "".join(
        '[[tasks]]\ntype = "echo"\nid = "%s"\n%sconfig = {msg = "%s"}\n' % (name, needs, name)
        for name, needs in (("a", ""), ("b", 'needs = ["a"]\n'), ("c", ""), ("d", 'needs = ["b", "c"]\n'), ("e", 'needs = ["c"]\n'))
    )

    def name_of(request):
        return request["params"]["config"][0]["value"]

    with host("attend", config=file) as ours:
        guest = ours.guest()
        guest.start(tasks=[{"type": "echo"}])
        for _ in range(5):
            guest.reply(guest.news("validateTask"), {})
        first = {name_of(each): each for each in (guest.news("runTask"), guest.news("runTask"))}
        same(sorted(first), ["a", "c"], "those that need nothing")
        guest.reply(first["c"], {})
        fifth = guest.news("runTask")
        same(name_of(fifth), "e", "the one that needs c")
        guest.refuse(first["a"], -32603, "a is wrong")
        guest.reply(fifth, {})
        same(guest.news("shutdown")["method"], "shutdown", "b and d are left out")
        guest.leave()
        ours.ended(1)
        true("a is wrong" in ours.tale(), ours.said())
    for config in ('[[tasks]]\ntype = "echo"\nid = "a"\nneeds = ["a"]\n', '[[tasks]]\ntype = "echo"\nneeds = ["x"]\n',
                   '[[tasks]]\nid = "x"\n', "[[tasks]\n", '[[tasks]]\ntype = "echo"\nid = "a"\n' * 2):
        with host("attend", config=config) as ours:
            end = time.monotonic() + PATIENCE
            while ours.child.poll() is None and time.monotonic() < end:
                ours.doors["raw"].settimeout(0.2)
                try:
                    control, _ = ours.doors["raw"].accept()
                except TimeoutError:
                    continue
                guest = guests.Guest(control, "raw")
                ours.closing.append(guest)
                guest.start(tasks=[{"type": "echo"}])
                guest.farewell()
            ours.ended(2)
            true("config.toml" in ours.said(), "the file is not named: " + ours.said())


def row_31():
    """The end of a plugin that is needed is 4, a command that nobody has 2; a plugin that fails is named, and the rest goes on."""
    with host("work") as ours:
        guest = ours.guest()
        guest.run()
        guest.leave(7)
        ours.ended(4)
        true("raw" in ours.said(), ours.said())
    with host("play") as ours:
        guest = ours.guest()
        guest.start()
        guest.farewell()
        ours.child.wait(PATIENCE)
        ours.ended(2)
        true("play" in ours.said(), ours.said())
    with host("work", names=("raw", "broken")) as ours:
        guest = ours.guest()
        ours.guest("broken").leave(1)
        guest.reply(guest.run(), {})
        guest.farewell()
        ours.ended(0)
        true(ours.told("broken", "failed"), "it is not named: " + ours.said())


# As the real program of June 2025 reads it.
REAL = """directory = "%s"
plugin-dir = "/no/such/folder"
color = "never"
[raw]
owner = "me"
[work]
n = 7
[defaults.echo]
msg = "usual"
loud = true
[[tasks]]
type = "echo"
msg = "inline"
count = 3
dependencies = ["last"]
[[tasks]]
type = "echo"
dependencies = "echo-0"
[[tasks]]
type = "other"
id = "last"
[[tasks]]
type = "other"
dependencies = ["echo"]
"""


def row_34():
    """The real program's configuration: options of a task in the task itself, defaults, dependencies, a table for each."""
    with host("attend", config=REAL % "/usr") as ours:
        guest = ours.guest()
        guest.start(configs=[{"key": "owner", "value": "nobody", "type": "string"}], commands=[KNOBS],
                    tasks=[{"type": "echo"}, {"type": "other"}])
        same(guest.initialize["params"]["config"], [guests.setting("owner", "me")], "of the plugin")
        checked = []
        for _ in range(4):
            checked.append(guest.news("validateTask"))
            guest.reply(checked[-1], {})
        got = [{each["key"]: each["value"] for each in one["params"].get("config", [])} for one in checked]
        same(got, [{"msg": "inline", "count": 3, "loud": True}, {"msg": "usual", "loud": True}, {}, {}], "the settings")
        ran = []
        for _ in range(4):
            ran.append(guest.news("runTask"))
            same(ran[-1]["params"]["dir"], "/usr", "where it works")
            guest.reply(ran[-1], {})
        order = [len(one["params"].get("config", [])) for one in ran]
        same(order, [0, 3, 2, 0], "the order, by the number of settings")
        guest.farewell()
        ours.ended(0)
        true("'color' has no effect" in ours.said(), ours.said())
    with host("work", config=REAL % "/usr") as ours:
        guest = ours.guest()
        asked = guest.run(configs=[{"key": "owner", "value": "nobody", "type": "string"}], commands=[KNOBS])
        true(guests.setting("n", 7) in guest.setup["params"]["config"], "of the command")
        guest.reply(asked, {})
        guest.farewell()
        ours.ended(0)


def row_35():
    """What a command answers is printed: a text as it is, other JSON as JSON; {} and null say only that it is done."""
    cases = (({}, ""), (None, ""), ("two\nlines", "two\nlines\n"), ({"a": [1, None]}, '{"a":[1,null]}\n'), (5, "5\n"),
             (False, "false\n"), ("a\x1b[31mb", None))
    for revision in ALL:
        for result, wanted in cases:
            with host("work", revision=revision) as ours:
                guest = ours.guest()
                guest.reply(guest.run(), result)
                guest.farewell()
                ours.ended(0)
                if wanted is None:
                    true("\x1b" not in ours.printed(), "an escape sequence: %r" % ours.printed())
                else:
                    same(ours.printed(), wanted, "for %r" % (result,))
    with host("--json", "work") as ours:
        guest = ours.guest()
        guest.reply(guest.run(), {"a": 1})
        guest.farewell()
        ours.ended(0)
        same(json.loads(ours.printed())["result"], {"a": 1}, "the event")


def row_36():
    """Flags of plugins as a whole work before the command, too: with a value in the same word or in the next, and without one."""
    entries = [{"key": "owner", "value": "nobody", "type": "string", "flag": {"shorthand": "w"}},
               {"key": "loud", "value": False, "type": "bool", "flag": {}}]
    for words in (("--owner", "me", "--loud", "work", "--n", "2", "x"), ("--loud", "--owner=me", "work", "--n=2", "x"),
                  ("-wme", "--loud", "work", "x", "--n", "2"), ("work", "--owner", "me", "--loud", "--n", "2", "x")):
        with host(*words, names=("other", "raw")) as ours:
            other, guest = ours.guest("other"), ours.guest("raw")
            other.hello(configs=entries[:1], commands=[])
            guest.hello(configs=entries[1:], commands=[KNOBS])
            other.initialized()
            guest.initialized()
            same(other.initialize["params"]["config"], [guests.setting("owner", "me")], "of the one")
            same(guest.initialize["params"]["config"], [guests.setting("loud", True)], "of the other")
            asked = guest.running()
            same((guest.setup["params"]["name"], guest.setup["params"]["args"]), ("work", ["x"]), "the command")
            true(guests.setting("n", 2) in guest.setup["params"]["config"], "its flag")
            guest.reply(asked, {})
            other.farewell()
            guest.farewell()
            ours.ended(0)
    for words, wrong in ((("--nobody", "me", "work"), "unknown option '--nobody'"), (("--owner", "me"), "missing command")):
        with host(*words) as ours:
            guest = ours.guest()
            guest.start(configs=entries)
            guest.farewell()
            ours.ended(2)
            true(wrong in ours.said(), ours.said())


# Named as options of duplex reginald are, or nearly so.
ALIKE = [{"key": "log", "value": "", "type": "string", "flag": {}}, {"key": "time", "value": 0, "type": "int", "flag": {}},
         {"key": "stop", "value": False, "type": "bool", "flag": {}}, {"key": "job", "value": "", "type": "string", "flag": {}},
         {"key": "owner", "value": "", "type": "string", "flag": {"shorthand": "o"}}]


def row_38():
    """A flag of a plugin may be named nearly as an option of ours; what nobody has is refused with a suggestion; a letter of both is ours, with a warning."""
    for words, wanted in ((("--log", "x", "work"), {"log": "x"}), (("--log=config", "work"), {"log": "config"}),
                          (("--time", "3", "--stop", "work"), {"time": 3, "stop": True}), (("--job=jobs", "work"), {"job": "jobs"}),
                          (("work", "-o", "me"), {"owner": "me"})):
        with host(*words) as ours:
            guest = ours.guest()
            asked = guest.run(configs=ALIKE)
            got = {each["key"]: each["value"] for each in guest.initialize["params"]["config"]}
            same({key: got[key] for key in wanted}, wanted, "of the plugin, with %s" % shown(words))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            true("warning" not in ours.said(), ours.said())
    wrong = (
        (("--ownr", "me", "work"), "unknown option '--ownr'", "did you mean --owner?"),
        (("--ownr=jobs", "work"), "unknown option '--ownr'", "did you mean --owner?"),
        (("--jsn", "work"), "unknown option '--jsn'", "did you mean --json?"),
        (("work", "--owne", "me"), "work has no flag --owne", "did you mean --owner?"),
        (("--n", "1", "work"), "unknown option '--n'", "--n is a flag of work; write it after the command"),
        (("--log", "x", "--json", "work"), "unknown option '--json'", "options of duplex reginald go before flags of plugins"),
        (("-z", "work"), "unknown option '-z'", "'duplex reginald --help' lists the options"),
        (("--owner", "me", "--", "work"), "missing command before '--'", "COMMAND -- [ARG...]"),
    )
    for words, error, hint in wrong:
        with host(*words) as ours:
            guest = ours.guest()
            guest.start(configs=ALIKE, commands=[KNOBS])
            guest.farewell()
            ours.ended(2)
            true("duplex reginald: " + error in ours.said() and "hint: " in ours.said() and hint in ours.said(), ours.said())
    for words in (("--", "work"), ("--", "plugins")):
        with host(*words, names=()) as ours:
            ours.ended(2)
            true("duplex reginald: missing command before '--'" in ours.said(), ours.said())
    ours = host("work", names=("raw",))
    ours.command[-1:] = ["-o", os.path.join(ours.place, "me"), "work"]
    with ours:
        guest = ours.guest()
        guest.reply(guest.run(configs=ALIKE), {})
        guest.farewell()
        ours.ended(0)
        true("-o before the command means --record; for the flag of the plugin raw, write -o after the command, or --owner"
             in ours.said(), ours.said())


def row_39():
    """In gen-a and exact the settings for a type are sent in validateTask before the tasks, as the real host does; else only checked (R34)."""
    config = '[defaults.echo]\nmsg = "usual"\n[[tasks]]\ntype = "other"\n'
    for revision in ALL:
        for refused in (False, True) if revision in ("gen-a", "exact") else (None,):
            with host("attend", config=config, revision=revision) as ours:
                guest = ours.guest()
                guest.start(tasks=[{"type": "echo", "configs": [{"key": "msg", "value": "", "type": "string"}]}, {"type": "other"}])
                asked = guest.news("validateTask")
                if refused is not None:
                    same(asked["params"], {"type": "echo", "config": [guests.setting("msg", "usual")]}, "the settings for a type")
                    if refused:
                        guest.refuse(asked, -32050, "msg is too usual")
                        guest.farewell()
                        ours.ended(7)
                        true("config.toml: defaults.echo: msg is too usual" in ours.said(), ours.said())
                        continue
                    guest.reply(asked, {})
                    asked = guest.news("validateTask")
                same(asked["params"]["type"], "other", "the task")
                guest.reply(asked, {})
                guest.reply(guest.news("runTask"), {})
                guest.farewell()
                ours.ended(0)


def row_40():
    """A result is printed with its numbers as they were sent."""
    sent = b'{"a": 12345678901234567890123, "b": [1.10, -0.0,\n 1e5, 18446744073709551616], "c": "\\u00e5"}'
    wanted = '{"a":12345678901234567890123,"b":[1.10,-0.0,1e5,18446744073709551616],"c":"å"}'
    for revision in ALL:
        for words, printed in (((), wanted), (("--json",), wanted)):
            with host(*words, "work", revision=revision) as ours:
                guest = ours.guest()
                asked = guest.run()
                guest.write(frame(b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (asked["id"], sent)))
                guest.farewell()
                ours.ended(0)
                true(printed in ours.printed(), "%s instead of %s" % (ours.printed(), printed))


LINKS = """[[tasks]]
type = "symlink"
id = "first"
dir = "home"
config = {from = "../å <&>", to = "a/b"}
[[tasks]]
type = "symlink"
needs = ["first"]
dir = "home"
config = {from = "a/b", to = "c"}
[[tasks]]
type = "echo"
config = {msg = "beside them"}
"""


def row_32():
    """Our host and our plugins: links that are made, checked and told of; a dry run changes nothing, a second run neither."""
    for revision in ALL:
        ours = host("attend", names=(), config=LINKS, revision=revision)
        for name in ("sleep", "symlink"):
            os.symlink(os.path.join(rows.BUILD, "examples", "reginald-" + name), os.path.join(ours.folder, "reginald-" + name))
        home = os.path.join(ours.place, "home")
        os.mkdir(home)
        plain = ours.command
        wanted = {"would be": [False, False], "was created": [True, True], "already": [False, False]}
        for words, changes in wanted.items():
            # The folder stays for the next run.
            ours.command = plain[:-1] + (["--dry-run"] if words == "would be" else []) + ["attend"]
            ours.begin()
            ours.ended(0)
            told = [line for line in ours.told("symlink") if words in line["msg"]]
            same([line["fields"]["changed"] for line in told], changes, words)
            same(len(ours.told("example")), 0 if words == "would be" else 1, "echoes")
            same(os.path.lexists(os.path.join(home, "a")), words != "would be", "a folder")
        same(os.readlink(os.path.join(home, "a", "b")), "../å <&>", "the first link")
        same(os.readlink(os.path.join(home, "c")), "a/b", "the second link")
        same(processes_of(ours.folder), [], "what is left")
        ours.__exit__(None, None, None)


if __name__ == "__main__":
    sys.exit(rows.main(globals()))

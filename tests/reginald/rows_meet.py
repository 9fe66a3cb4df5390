"""How plugins are found and met."""
import json
import os
import sys
import tempfile

import rows
from rows import ALL, PATIENCE, WORK, Wrong, host, is_there, plugin, processes_of, same, shown, true


def row_09():
    """A handshake of another protocol, version or without a name fails that plugin alone; members that are not known do no harm."""
    wrong = (
        {"protocol": "rppp"}, {"protocolVersion": 1}, {"protocolVersion": "0"}, {"name": ""}, {"name": 5},
        {"commands": [{"name": "attend", "usage": ""}]}, {"commands": [{"name": "tend", "usage": ""}]},
        {"commands": [{"name": "work", "usage": ""}] * 2}, {"tasks": [{"type": "link"}]}, {"name": "other"},
        {"commands": [{"name": "x", "usage": "", "configs": [{"key": "k", "value": 1.5, "type": "float"}]}]},
        {"commands": [{"name": "x", "usage": "", "configs": [{"key": "k", "value": "1", "type": "int"}]}]},
    )
    for facts in wrong:
        # "other" is the first in order, so that it is raw whose name is taken.
        with host("work", names=("other", "raw")) as ours:
            other, guest = ours.guest("other"), ours.guest("raw")
            other.hello(commands=[WORK])
            guest.hello(**facts)
            other.initialized()
            other.reply(other.running(), {})
            true('"failed"' in ours.said(), "%s: it is not told: %s" % (facts, ours.said()))
            other.farewell()
            guest.leave()
            ours.ended(0)
    with host("work") as ours:
        guest = ours.guest()
        guest.hello(**wrong[0])
        guest.leave()
        ours.ended(3)
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.reply(guest.greet(), {**guest.facts(commands=[{**WORK, "odd": [1]}]), "more": {"a": 1}})
            guest.reply(guest.news("initialize"), {})
            guest.reply(guest.running(), {})
            guest.farewell()
            ours.ended(0)
    # A version that is none is only worth a word.
    with host("work") as ours:
        guest = ours.guest()
        guest.reply(guest.run(version="yesterday"), {})
        guest.farewell()
        ours.ended(0)
    with plugin() as ours:
        for params in ({"protocol": "other", "protocolVersion": 0}, {"protocol": "rpp", "protocolVersion": 1}, {}):
            true(ours.error("handshake", params)["code"] in (-32602, -32600), "a handshake of %r (R24)" % params)
        ours.start()
        ours.shut_down()


def row_10():
    """A plugin of generation B and our host, our plugin and a host of generation B: a clean failure that says so (R4)."""
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.reply(guest.greet(), {"protocol": "reginald", "protocolVersion": 0, "name": "raw"})
            why = ours.tells("raw", "failed")[0]["msg"]
            true("generation B" in why or "reginald" in why, "it is not told: " + why)
            guest.leave()
            ours.ended(3)
    with plugin() as ours:
        error = ours.error("handshake", {"protocol": "reginald", "protocolVersion": 0})
        true("reginald" in json.dumps(error) or "generation B" in json.dumps(error), shown(error))
        ours.start()
        ours.shut_down()


def silence(seconds, options):
    with host("work", names=("raw", "mute", "late"), options=options) as ours:
        guest, mute, late = ours.guest("raw"), ours.guest("mute"), ours.guest("late")
        mute.greet()
        late.hello()
        guest.start()
        told = ours.tells("mute", "failed")[0]["msg"]
        ours.tells("late", "failed")
        true(seconds * 0.9 <= ours.seconds() < seconds * 2 + 6, "it took %.1f s" % ours.seconds())
        true("handshake" in told or "in time" in told or "answer" in told, "the reason: " + told)
        guest.reply(guest.running(), {})
        guest.farewell()
        # Their processes are ended for them, whatever they do.
        ours.ended(0)
        for each in (mute, late):
            true(not is_there(each.pid), "%s is still there" % each.name)


def row_11():
    """A plugin that does not answer handshake or initialize is dropped in time, ended and named; the rest goes on."""
    silence(0.6, ("--handshake-timeout", "600ms"))


def row_11_long():
    """The time for a handshake is five seconds (R28)."""
    silence(5, ())


def row_24():
    """Plugins are executable files called reginald-…; a folder, other names and files without that bit are none."""
    with tempfile.TemporaryDirectory() as place:
        ours = host("plugins", names=("raw", "Ångström 2"))
        mark = os.path.join(place, "started")
        script = "#!/bin/sh\ntouch '%s'\n" % mark
        ours.put("plain", script, 0o600)
        os.mkdir(os.path.join(ours.folder, "reginald-folder"))
        for name in ("reginal-x", "xreginald-y", "Reginald-z", "reginald"):
            ours.put("moved", script)
            os.rename(os.path.join(ours.folder, "reginald-moved"), os.path.join(ours.folder, name))
        os.symlink("/nowhere/at/all", os.path.join(ours.folder, "reginald-dangling"))
        ours.put("group", "#!/no/such/interpreter\n", 0o710)
        with ours:
            guest, odd = ours.starts(**{"raw": {"commands": [WORK]}, "Ångström 2": {}})
            guest.farewell()
            odd.farewell()
            ours.child.wait(PATIENCE)
            ours.ended(ours.child.returncode)
            listed = ours.printed() + ours.said()
            true("raw" in listed and "Ångström 2" in listed and "work" in listed, "the list: " + listed)
            true("group" in listed, "one that cannot be started is not named: " + listed)
            true("reginald-plain" not in listed and "folder" not in listed, "too much is listed: " + listed)
            true(not os.path.exists(mark), "one was started that is none")
    with host("plugins", options=("--plugin-dir", "/no/such/folder")) as ours:
        ours.ended(2)
        true("/no/such/folder" in ours.said(), "it is not named: " + ours.said())


def fifty(path):
    """The seconds until all of fifty have shaken hands, by the trace; and that nothing is left."""
    ours = host("c07", names=(), options=("--record", path))
    for number in range(50):
        os.symlink(os.path.join(rows.BUILD, "tests", "children", "reginald"), os.path.join(ours.folder, "reginald-c%02d" % number))
    with ours:
        ours.ended(0)
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    os.remove(path)
    same(processes_of(ours.folder), [], "what is left")
    greeted = [each["t"] for each in records if "protocolVersion" in ((each.get("message") or {}).get("result") or {})]
    same(len(greeted), 50, "plugins that have shaken hands")
    return max(greeted) / 1e6


def row_26():
    """Fifty plugins have all shaken hands in under a second, and nothing of them is left."""
    with tempfile.TemporaryDirectory() as place:
        seen = []
        for _ in range(5):
            seen.append(fifty(os.path.join(place, "trace")))
            if seen[-1] < 1:
                return
        raise Wrong("at best %.2f s of %s" % (min(seen), seen))


if __name__ == "__main__":
    sys.exit(rows.main(globals()))

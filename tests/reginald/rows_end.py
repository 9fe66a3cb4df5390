"""How it ends."""
import signal
import sys
import time

import rows
from rows import WORK, host, is_there, plugin, same, true


def row_17():
    """A request after shutdown is refused; exit without shutdown, exit with an id and the end of the input: 0, 0, 0 and 1 (R29, R30)."""
    with plugin() as ours:
        ours.start()
        same(ours.result("shutdown"), None, "shutdown")
        same(ours.error("runCommand", {"name": "sleep"})["code"], -32600, "a request after shutdown")
        same(ours.error("shutdown")["code"], -32600, "a second shutdown")
        ours.tell_exit()
        same(ours.ended(), 0, "the exit code")
    with plugin() as ours:
        ours.start()
        ours.tell_exit()
        same(ours.ended(), 0, "exit without shutdown")
    with plugin() as ours:
        ours.tell_exit()
        same(ours.ended(), 0, "exit without a handshake")
    with plugin() as ours:
        ours.start()
        same(ours.error("exit")["code"], -32600, "exit with an id")
        same(ours.ended(), 0, "exit with an id")
    for begin in (False, True):
        with plugin() as ours:
            if begin:
                ours.start()
            ours.close_write()
            same(ours.ended(), 1, "the end of the input")
    # A command that runs holds up none of that.
    for code in (0, 1):
        with plugin() as ours:
            ours.start()
            ours.sets(time=60)
            ours.send(ours.request("runCommand", {"name": "sleep"}))
            begin = time.monotonic()
            if code:
                ours.close_write()
            else:
                ours.tell_exit()
            same(ours.ended(), code, "its exit code")
            true(time.monotonic() - begin < 20, "it slept on")


def ignores_exit(seconds, options):
    with host("work", names=("raw", "good"), options=options) as ours:
        guest, good = ours.starts(raw={"commands": [WORK]}, good={})
        guest.reply(guest.running(), {})
        begin = time.monotonic()
        guest.reply(guest.news("shutdown"), None)
        guest.news("exit")
        good.farewell()
        ours.ended(0, seconds + 10)
        took = time.monotonic() - begin
        true(took < seconds + 8, "it took %.1f s" % took)
        true(not is_there(guest.pid), "it is still there")
    with host("work", options=options) as ours:
        guest = ours.guest()
        guest.reply(guest.run(), {})
        begin = time.monotonic()
        guest.news("shutdown")
        ours.ended(0, seconds + 10)
        took = time.monotonic() - begin
        true(seconds * 0.9 <= took < seconds + 8, "without an answer to shutdown it took %.1f s" % took)


def row_18():
    """A plugin that ignores exit, SIGTERM or shutdown itself is killed when its time is over."""
    ignores_exit(1, ("--stop-timeout", "1s"))


def row_18_long():
    """The time to leave is fifteen seconds (R28)."""
    ignores_exit(15, ())


def row_27():
    """SIGINT and SIGTERM end the host with 130, and nothing is left, in whatever state plugins are."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with host("work", names=("raw", "mute", "idle"), options=("--stop-timeout", "1s")) as ours:
            if number == signal.SIGINT:
                ours.guest("mute").greet()
                ours.guest("idle").hello()
                ours.guest("raw").hello()
            else:
                ours.starts(raw={"commands": [WORK]}, mute={}, idle={})[0].running()
            ours.interrupt(number)
            ours.ended(130)
            true(not any(is_there(each.pid) for each in ours.guests), "some are still there")
    # One that is killed leaves nothing behind, either (F86).
    with host("work") as ours:
        guest = ours.guest()
        guest.run()
        ours.interrupt(signal.SIGKILL)
        guest.gone()


if __name__ == "__main__":
    sys.exit(rows.main(globals()))

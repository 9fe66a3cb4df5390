#!/usr/bin/env bash
# duplex finecode: what goes wrong, with its exit codes, and what runners tell by themselves.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1

# What goes wrong: each has its exit code, the rest goes on, and the first in the tree decides.
project bad/p <<'END'
fail h a fail = "it \u001b[1mwent wrong", stderr = "the last words"
cancel h a rpc = -32800
misfit h a rpc = -32602
words h a fail = "Invalid payload for action words: x"
die h a die = true, stderr = "ouch\u001b[2J"
hang h a hang = true
empty h a empty = true
broken h broken
silent h silent
many h a ms = 100
END
expect 8 '' 'failed    p: fail: it ?[1mwent wrong, ' -w bad run fail
has err '1 of 1 projects failed'
has err 'p/a: the last words'
expect 8 '{"error":{"exit":8,"kind":"failed"' '' -w bad --json run fail
events 'of("project")[0]["returnCode"] is None and (of("summary")[0]["returnCode"], of("summary")[0]["exitCode"]) == (None, 8)'
events 'of("project")[0]["status"] == "failed" and "went wrong" in of("project")[0]["why"] and of("stderr")[0]["text"] == "the last words"'
expect 8 '' 'cancelled p: cancel' -w bad run cancel
expect 7 '' 'failed    p: misfit' -w bad run misfit
expect 7 '' 'Invalid payload' -w bad run words
expect 4 '' 'failed    p: die' -w bad run die
expect 4 '' '' -w bad --json run die
events '(of("summary")[0]["returnCode"], of("summary")[0]["exitCode"]) == (None, 4)'
expect 4 '' 'failed    p: die' -w bad run die
has err 'p/a: ouch\x1b[2J'
lacks err $'\x1b'
gone
expect 5 '' 'failed    p: hang' -w bad --run-timeout 500ms run hang
gone
expect 6 '' 'failed    p: empty' -w bad run empty
expect 3 '' 'failed    p: broken' -w bad run broken
has err 'it is broken'
gone
expect 3 '' 'failed    p: silent' -w bad --initialize-timeout 300ms --stop-timeout 300ms run silent
gone
project mixed/a <<<'m h a code = 1'
project mixed/b <<<'m h a fail = "no"'
project mixed/c <<<'m h broken'
project mixed/d <<<'m h a'
expect 8 $'d:\nh' '4 projects: 1 done, 1 with findings, 2 failed' -w mixed run m
has err '2 of 4 projects failed'
rm -r mixed/b
expect 3 '' '1 of 3 projects failed' -w mixed run m
printf '[finecode\n' >mixed/d/finecode.toml
rm -r mixed/c
expect 7 $'a:\nh' 'failed    d: m: ' -w mixed run m
has err '1 of 2 projects failed'
expect 7 '' '' -w mixed run absent
expect 7 'invalid: ' 'finecode.toml' -w mixed list
expect 7 '{"error":{"exit":7' '' -w mixed --json list
events 'len(of("project")) == 2'
expect 7 '' 'finecode.toml' -w mixed runners

# What runners tell by themselves.
project talk/p <<'END'
say h tcp message = "look \u001b[1mhere", log = "line one\nline two", progress = "half"
odd h tcp log = "line", level = "\u001b[2J"
END
expect 0 '' 'WARNING p/tcp: look \x1b[1mhere' -w talk run say
expect 0 '' 'INFO    p/tcp: a.b: line two' -w talk --log-level INFO run say
has trace 'finecodeRunner/updateLogging {"forward": true, "forwardLevel": "INFO"}'
expect 0 '' '\x1b[2J    p/tcp: a.b: line' -w talk --log-level INFO run odd
lacks err $'\x1b'
# By pipes there are only lines of the standard error.
project lines/p <<<'say h a stderr = "a line\u001b[2J of it"'
expect 0 '' 'LOG     p/a: a line\x1b[2J of it' -w lines --log-level INFO run say
expect 0 '' '' -w lines run say
lacks err 'a line'
expect 0 '' '' -w talk --json --log-level DEBUG run say
events 'of("message")[0]["kind"] == "WARNING" and of("message")[0]["env"] == "tcp"'
events 'of("log")[0] == {**of("log")[0], "level": "INFO", "group": "a.b", "text": "line one\nline two", "time": 1.5}'
events '[one["value"]["type"] for one in of("progress")] == ["begin", "report", "end"]'
expect 0 '' ' p/tcp -> {"jsonrpc":"2.0"' -w talk --show --record talk.jsonl run say
has talk.jsonl resolveActionMeta
expect 0 '' '' -w talk --wal wal run say
grep -rqs run.accepted wal || complain "nothing is in the WAL: $(find wal)"

exit "$failed"

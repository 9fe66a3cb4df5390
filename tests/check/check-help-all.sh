#!/usr/bin/env bash
# The help of every command: its form and its length, one meaning for each short option, and what is suggested
# for words that people try.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
complain() {
    echo "$*"
    failed=1
}
run() {
    last="duplex $*"
    got=0
    timeout 20 "$BUILD/duplex" "$@" >out 2>err </dev/null || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"
# shellcheck source=/dev/null
. "$SOURCE/tests/check/installed.bash"

# is_short NAME...: at most 60 lines, also where the paths of examples are longer.
is_short() {
    local program lines
    # shellcheck disable=SC2154 # installed.bash sets it
    for program in "$BUILD/duplex" "$installed/bin/duplex"; do
        lines=$("$program" "$@" --help | wc -l)
        ((lines <= 60)) || complain "$program $* --help: $lines lines"
    done
}
is_short

commands=$("$BUILD/duplex" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z][a-z-]*\) .*/\1/p')
(($(wc -w <<<"$commands") >= 25)) || complain "only these commands are listed: $commands"

# looks_right NAME...: a first line, a usage, three examples, options, at most 60 lines of 80 columns.
looks_right() {
    run "$@" --help
    if ((got != 0)) || [[ -s err ]]; then complain "$last: code $got: $(cat err)"; fi
    grep -qE '^[A-Z].*[^.]$' <(head -n 1 out) || complain "$last: the first line is '$(head -n 1 out)'"
    [[ $(sed -n 2p out) == '' && $(sed -n 3p out) == "Usage: duplex $*"* ]] || complain "$last: no usage after the first line"
    is_short "$@"
    (($(wc -L <out) <= 80)) || complain "$last: wider than 80 columns"
    (($(sed -n '/^Examples:/,/^$/p' out | grep -c '^    duplex\|^    [a-z].*duplex') >= 3)) || complain "$last: fewer than three examples"
    [[ $(grep -nE '^Examples:$|^  -' out | head -n 1) == *:Examples: ]] || complain "$last: no examples before the options"
    lacks out 'unknown option'
}
for command in $commands; do
    looks_right "$command"
    while read -r one; do
        # shellcheck disable=SC2086 # one or two words
        run "$command" $one --help
        # shellcheck disable=SC2086
        is_short "$command" $one
        grep -qE '^[A-Z].*[^.]$' <(head -n 1 out) || complain "$last: the first line is '$(head -n 1 out)'"
        lacks out 'unknown option'
    done < <(sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z -]*[a-z]\)   *[A-Z].*/\1/p' out)
done

# What only packagers need is in the man page alone.
run --help
for option in --man-page --man-protocol --share; do lacks out "$option"; done
expect 0 '--man-page FILE NAME SECTION' '' --help-all

# One meaning for each letter. The exceptions are what every user of tail(1) expects of 'logs', and -n for a number.
for command in $commands; do
    "$BUILD/duplex" "$command" --help-all | sed -nE "s/^  (-[a-zA-Z]), (--[a-z-]+).*/\1 \2 $command/p"
done | sort -u >letters
grep -vxE -e '-f --follow logs' -e '-n --(lines logs|count bench)' -e '-o --output (check|timeline|demo)' letters |
    awk '{ meaning[$1] = meaning[$1] && meaning[$1] != $2 ? meaning[$1] " " $2 : $2; by[$1] = by[$1] " " $3 }
         END { for (letter in meaning) if (meaning[letter] ~ / /) print letter " is " meaning[letter] ":" by[letter] }' >several
[[ ! -s several ]] || complain "letters with several meanings: $(cat several)"
for row in '-p --protocol' '-c --config' '-e --env'; do grep -q -- "^$row " letters || complain "no command has $row"; done

# Old letters still work, with a warning.
expect 3 '' 'duplex call: warning: -c will not mean --connect in the next release; write --connect' call x -c unix:/nowhere/s

# Words that people try.
while read -r word meant; do
    expect 2 '' "duplex: unknown command '$word'"$'\n'"hint: did you mean 'duplex $meant'?" "$word"
done <<'END2'
record tap
watch tap
client call
attach tap --attach
listen tap --listen
completion --completion
lst list
proxy tap
validate check' or 'duplex schema
test check
status ps
stop down
inspect timeline
ping mcp ping
top ps
man docs
version --version
tools mcp tools
cal call
chekc check
END2
expect 2 '' $'duplex: unknown option \'-v\'\nhint: did you mean \'duplex --version\'?' -v
expect 2 '' $'duplex: unknown option \'--verson\'\nhint: did you mean \'duplex --version\'?' --verson
expect 2 '' $'duplex: unknown option \'--hepl\'\nhint: did you mean \'duplex --help\'?' --hepl
expect 2 '' $'duplex: unknown option \'--xyzzy\'\nhint: \'duplex --help\' lists the options' --xyzzy
expect 2 '' $'duplex call: unknown option \'--version\'\nhint: did you mean \'duplex --version\'?' call --version
expect 2 '' $'duplex call: unknown option \'-v\'\nhint: did you mean --show?' call -v
expect 2 '' $'duplex mcp: unknown subcommand \'call\'\nhint: did you mean \'duplex mcp tools call\'?' mcp call add -- true
expect 2 '' $'duplex mcp: unknown subcommand \'tools node\'\nhint: \'duplex mcp --help\' lists the subcommands; the command line of a server goes after --' mcp tools node server.js
expect 2 '' $'duplex call: missing command after --\nhint: put the server\'s command line after --' call -p mcp tools/list node server.js
expect 2 '' $'duplex: unknown command \'init\'\nhint: \'duplex --help\' lists the commands' init
expect 2 '' $'duplex: missing command\nhint: \'duplex --help\' lists the commands'
expect 2 '' $'duplex: unknown command \'lock\'\nhint: \'duplex --help\' lists the commands' lock
expect 2 '' $'duplex: unknown command \'qqqqqq\'\nhint: \'duplex --help\' lists the commands' qqqqqq

expect 2 '' $'duplex mcp: unknown option \'-x\'\nhint: \'duplex mcp ping --help\' lists the options' mcp ping -x

# No peer could meet a time of 0.
while read -r option words; do
    # shellcheck disable=SC2086 # words
    for zero in 0 0ms; do
        expect 2 '' "duplex ${words%% *}: --$option: 0 leaves no time; pass a longer time, or never" $words --$option $zero
    done
done <<'END2'
timeout call x
start-timeout call x
total-timeout call x
timeout notify x
start-timeout repl
timeout bench
duration bench
timeout check
start-timeout check
stop-timeout check
start-timeout run
timeout replay x
timeout mock
timeout mcp ping
start-timeout mcp ping
probe-timeout mcp ping
for mcp log
start-timeout hermes host
handshake-timeout reginald plugins
initialize-timeout finecode run
timeout autohand prompt
start-timeout autohand prompt
END2
# Where 0 has a meaning, the help says so.
while read -r option words; do
    # shellcheck disable=SC2086 # words
    run $words --help-all
    tr -s ' \n' ' ' <out | grep -qE -- "--$option TIME .{0,150}; 0: " || complain "$words --$option: nothing says what 0 means"
done <<'END2'
stop-timeout call
late mock
stop-timeout finecode
stop-timeout hermes
settle hermes
stop-timeout reginald
END2
exit $failed

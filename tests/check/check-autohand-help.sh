#!/usr/bin/env bash
# duplex autohand: the help of the command and of each subcommand, its examples, and what is suggested for a wrong word.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/autohand-common.bash" || exit 1

# The examples run as pasted in any folder.
# shellcheck source=/dev/null
. "$SOURCE/tests/check/installed.bash"
mkdir home
export HOME=$work/home PATH=$installed/bin:$PATH
timeout 120 python3 "$SOURCE/tests/check/help-examples.py" "$installed/bin/duplex" autohand agent prompt chat >out 2>&1 || complain "$(cat out)"

# Each has what belongs to it, and nothing else.
expect 0 $'Run a coding agent, or give one instructions\n\nUsage: duplex autohand agent [OPTION...] [-- MODEL [ARG...]]\n' '' --help
has out $'  chat            Talk to an agent: each line of standard input is a prompt\n'
has out 'More: duplex autohand SUBCOMMAND --help, --help-all, man duplex-autohand'
expect 0 $'Give an agent one instruction and show what it does\n\nUsage: duplex autohand prompt [OPTION...] TEXT|@FILE|- -- COMMAND [ARG...]\n' '' prompt --help
has out '  --file FILE             a file the prompt is about; may be repeated'
lacks out --yolo
lacks out 'duplex autohand chat'
expect 0 $'Talk to an agent: each line of standard input is a prompt\n\nUsage: duplex autohand chat [OPTION...] -- COMMAND [ARG...]\n' '' chat --help
lacks out --select
expect 0 $'Run a coding agent on standard input and output\n\nUsage: duplex autohand agent [OPTION...] [-- MODEL [ARG...]]\n' '' agent --help
has out '  -c, --config FILE       settings: model, hooks, permissions (HOME/config.json)'
lacks out --changes
expect 0 '  --client-context NAME   type of the client (with --compat 0.8: browser)' '' --help-all

# Words that people try.
while read -r word meant; do
    expect 2 '' "duplex autohand: unknown subcommand '$word'"$'\n'"hint: did you mean 'duplex autohand $meant'?" "$word"
done <<'END'
run prompt
ask prompt
exec prompt
repl chat
serve agent
prmpt prompt
END
expect 2 '' $'unknown subcommand \'xyzzy\'\nhint: \'duplex autohand --help\' lists the subcommands' xyzzy
expect 2 $'"hint":"did you mean \'duplex autohand prompt\'?"' '' ask --json

# -c is the configuration, as in every command.
expect 3 '' 'Initialization error: cannot read absent.json: No such file or directory' prompt hi -- "$duplex" autohand agent -c absent.json
exit "$failed"

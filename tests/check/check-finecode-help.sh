#!/usr/bin/env bash
# duplex finecode: the help of the command and of each subcommand, its examples, what is suggested for a wrong word, and the
# letter that changes its meaning.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1

# The examples run as pasted in any folder.
# shellcheck source=/dev/null
. "$SOURCE/tests/check/installed.bash"
export PATH=$installed/bin:$PATH
timeout 200 python3 "$SOURCE/tests/check/help-examples.py" "$installed/bin/duplex" finecode run list runners serve er >wrong 2>&1 || complain "$(cat wrong)"
[[ $(duplex finecode run -w "$BUILD/examples/finecode" --format json --project app --set 'report.collect.globs=["*.h"]' report 2>/dev/null) == *'"files":{"greet.h":7}'* ]] ||
    complain "--set does nothing"

# Each has what belongs to it, and nothing else.
expect 0 $'Run actions such as lint and format across projects\n\nUsage: duplex finecode run [OPTION...] ACTION... [NAME=VALUE | NAME:=JSON]...\n                       [-- FILE...]\n' '' --help
has out $'  serve           Serve editors and other clients over TCP\n'
has out 'More: duplex finecode SUBCOMMAND --help, --help-all, man duplex-finecode'
expect 0 $'Run actions in every project that has them\n\nUsage: duplex finecode run [OPTION...] ACTION... [NAME=VALUE | NAME:=JSON]...\n                           [-- FILE...]\n' '' run --help
has out $'  -j, --jobs N            how many projects run at the same time, and how many\n                          runners there are, at least 1 (as many as there are\n                          processors)\n'
lacks out --port
expect 0 $'Show the tree of projects, actions and handlers\n\nUsage: duplex finecode list [OPTION...]\n' '' list --help
lacks out --payload
expect 0 $'Serve editors and other clients over TCP\n\nUsage: duplex finecode serve [OPTION...]\n' '' serve --help
lacks out --project
expect 0 $'Start every runner and report the outcome\n\nUsage: duplex finecode runners [OPTION...]\n' '' runners --help
lacks out --payload
expect 0 $'Run the handlers of one project and environment\n\nUsage: duplex finecode er start --project-path DIR --env-name ENV [OPTION...]\n' '' er --help
expect 0 '  violation  project, name, env, text: what the runner did wrong' '' --help-all

# Words that people try.
while read -r word meant; do
    expect 2 '' "duplex finecode: unknown subcommand '$word'"$'\n'"hint: did you mean 'duplex finecode $meant'?" "$word"
done <<'END'
lint run lint
format run format
exec run
actions list
status runners
server serve
handlers er handlers
rnu run
END
expect 2 '' $'unknown subcommand \'walk\'\nhint: \'duplex finecode er --help\' lists the subcommands' er walk
expect 2 '' $'missing subcommand: start, handlers or version\nhint: \'duplex finecode er --help\' lists the subcommands' er

# -p is the protocol in other commands; here it means the project for one more release.
expect 0 'app  ' 'warning: -p will not mean --project in the next release; write --project' -w "$BUILD/examples/finecode" list -p app
lacks out 'notes  '
exit "$failed"

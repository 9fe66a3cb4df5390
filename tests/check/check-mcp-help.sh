#!/usr/bin/env bash
# duplex mcp: the help of the command and of each subcommand, and its examples, which run as pasted in any folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=/dev/null
. "$SOURCE/tests/check/installed.bash"
# shellcheck disable=SC2154
export PATH=$installed/bin:$PATH
mkdir empty run
cd empty
# Without those that need the network, and those that run until they are interrupted.
export SKIP='npx|--listen|mcp watch "file|mcp log --json' XDG_RUNTIME_DIR=$work/run
python3 "$SOURCE/tests/check/help-examples.py" "$installed/bin/duplex" mcp info tools 'tools call' resources \
    'resources read' templates prompts 'prompts get' complete ping log watch 'serve files' 'serve command'
# Those that run until they are interrupted do run until then.
while IFS= read -r example; do
    got=0
    timeout 2 bash -c "$example" >out 2>err </dev/null || got=$?
    ((got == 124)) || { echo "$example: code $got: $(cat out err)"; exit 1; }
done < <(for word in watch log; do duplex mcp "$word" --help; done |
    sed -e :join -e '/\\$/{N;s/ *\\\n */ /;bjoin}' | grep -E '^    duplex mcp (watch "file|log --json)')

#!/usr/bin/env bash
# --help of the commands that test and look: what each does, examples that run as pasted, and not too long.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
complain() {
    echo "$*"
    failed=1
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/help-common.bash"

helps 'Check that a program follows its protocol' check
helps 'Check recorded sessions for protocol violations' lint
helps 'Simulate a correct or faulty server or host' mock
helps 'Replay a recorded session and compare the responses' replay
helps 'Turn recorded sessions into a picture that any browser can open' timeline
helps 'Describe a protocol, or one of its methods' describe
helps 'List the built-in protocols, or the methods of one' list
helps 'Validate JSON files against a JSON Schema' schema

# What is not in --help is in --help-all.
for word in tap no-calls stop-timeout jobs clean-env; do
    "$BUILD/duplex" check --help-all | grep -qE -- "^  (-., )?--$word( |\$)" || complain "duplex check --help-all lacks --$word"
    ! "$BUILD/duplex" check --help | grep -qE -- "^  (-., )?--$word( |\$)" || complain "duplex check --help has --$word"
done
exit $failed

#!/usr/bin/env bash
# duplex mock: scripts, faults and their bytes, as a plugin and as a host, from a trace; and its wire.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
failed=0
for part in wrong script faults host; do
    echo "mock-$part"
    timeout 200 python3 "$here/mock-$part.py" || failed=1
done

# Every fault, with its description, and every action stands in the page, and nothing else does.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$SOURCE/docs/mock.md
# shellcheck disable=SC2016 # those are no commands
"$BUILD/duplex" mock --list-faults --json | python3 -c 'import json, sys
for row in map(json.loads, sys.stdin):
    framing = "" if row["framing"] == "any" else row["framing"]
    print("| `%s` | %s | %s | %s | %s |" % (row["name"], row["row"], "wrong" if row["wrong"] else "allowed", framing, row["text"]))' >"$work/faults"
# shellcheck disable=SC2016
grep -E '^\| `[a-z0-9-]+` \| F[0-9]+ \|' "$page" | diff "$work/faults" - || { echo "docs/mock.md lists other faults"; failed=1; }
[[ $("$BUILD/duplex" mock --list-faults | wc -l) == "$(wc -l <"$work/faults")" ]] || { echo "--list-faults: other lines than with --json"; failed=1; }
python3 - "$SOURCE" <<'END' >"$work/actions"
import json, re, sys
schema = json.load(open(sys.argv[1] + "/cli/mock/script.schema.json"))
beside = {"params", "id", "then", "else", "timeout", "pause", "every", "do"}
print("\n".join(sorted(set(schema["$defs"]["action"]["properties"]) - beside)))
END
# shellcheck disable=SC2016
sed -nE 's/^\| `\{"([a-z0-9-]+)":.*/\1/p' "$page" | sort -u | diff "$work/actions" - || { echo "docs/mock.md lists other actions"; failed=1; }

# The examples of the page are true: what stands behind "$ " gives what follows.
cd "$work"
python3 "$here/mock-page.py" "$page" || failed=1
exit "$failed"

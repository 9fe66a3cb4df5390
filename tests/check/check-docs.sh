#!/usr/bin/env bash
# duplex docs: every guide is there, in the build folder and after installing, and --help leads to it.
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
. "$(dirname "$(realpath "$0")")/expect.bash"

# Each page of docs/, with its title.
run docs
for page in "$SOURCE"/docs/*.md "$SOURCE"/docs/{tutorial,decisions}/*.md; do
    name=${page#"$SOURCE/docs/"}
    name=${name%.md}
    [[ $name != README ]] || name=index
    title=$(sed -n '1s/^# //p' "$page")
    grep -qxE "${name} +.*" out || complain "'$name' is not listed"
    grep -qF -- "${title:0:150}" out || complain "the title '$title' is not listed"
done
# Samples of TOML are TOML.
python3 - "$SOURCE" <<'END' || failed=1
import pathlib, re, sys, tomllib
for page in pathlib.Path(sys.argv[1], "docs").rglob("*.md"):
    for block in re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        try:
            tomllib.loads(block)
        except tomllib.TOMLDecodeError as error:
            sys.exit("%s: %s\n%s" % (page, error, block))
END
# A guide is printed whole; its name may be written as a path.
for name in trace trace.md docs/trace.md Trace; do
    run docs "$name"
    if ((got != 0)) || [[ -s err ]] || [[ $(head -n 1 out) != "# The trace format" ]]; then complain "$last: $(head -n 3 out err)"; fi
    (($(wc -l <out) > 40)) || complain "$last is cut"
done
expect 0 'Ten minutes' '' docs tutorial/mcp
# Pages that help texts name are there.
for name in $("$BUILD/duplex" --help-all | grep -oE 'duplex docs [a-z/-]+' | cut -d' ' -f3); do
    run docs "$name"
    ((got == 0)) || complain "help names a guide that is not there: $name"
done
expect 2 '' $'duplex docs: unknown guide \'mpc\'\nhint: did you mean mcp' docs mpc
expect 2 '' $'duplex docs: unknown guide \'zzzzzz\'\nhint: \'duplex docs\' lists the guides' docs zzzzzz
expect 2 '' "duplex docs: unknown guide '../../LICENSE'" docs ../../LICENSE
expect 2 '' "duplex docs: expected one NAME, but also got 'b'" docs a b
# A command that was copied alone has no guides, and says so.
cp "$BUILD/duplex" "$work/duplex"
got=0
LD_LIBRARY_PATH=$BUILD "$work/duplex" docs >out 2>err || got=$?
if ((got != 2)) || [[ $(cat err) != 'duplex docs: the guides are not installed with this command' ]]; then complain "alone: $got $(cat err)"; fi
exit $failed

#!/usr/bin/env bash
# Every command of the README, of docs/tutorial and of some other pages runs as pasted after `./dev run`,
# and prints what the page says. Nothing is prepared: each page gets a folder with ./dev, README.md,
# systems/ and build/, and an environment without a variable of ours.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v pkg-config >/dev/null || { echo "pkg-config is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
pages=("$SOURCE"/README.md)
# tests/interop/tutorial.test.mjs runs the one that needs programs from npm.
for page in "$SOURCE"/docs/tutorial/*.md; do [[ $page == */monorepo.md ]] || pages+=("$page"); done
for page in hermes mcp repl replay timeline; do pages+=("$SOURCE/docs/$page.md"); done
for page in "${pages[@]}"; do
    # A home and a run of its own, as another user would have.
    here=$(mktemp -d "$work/XXXX")
    mkdir -p "$here"/{clone,home,tmp}
    mkdir -m 700 "$here/run"
    cp "$SOURCE"/{dev,README.md} "$here/clone/"
    ln -s "$BUILD" "$here/clone/build"
    ln -s "$SOURCE/systems" "$here/clone/systems"
    env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 TERM=xterm HOME="$here/home" TMPDIR="$here/tmp" \
        XDG_RUNTIME_DIR="$here/run" \
        timeout 120 python3 "$SOURCE/tests/check/tutorial.py" "$here/clone" "$page" || failed=1
done
exit $failed

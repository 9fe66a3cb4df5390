#!/usr/bin/env bash
# The version, CHANGELOG.md, SECURITY.md and debian/changelog agree on what was released.
set -euo pipefail
cd "$SOURCE"
failed=0
complain() { echo "$1"; failed=1; }

version=$(sed -nE 's/.*define +DX_VERSION +"(.*)"/\1/p' include/duplex/version.h)
newest=$(grep -m 1 '^## ' CHANGELOG.md)
[[ $newest == "## Unreleased ($version)" || $newest =~ ^"## $version ("[0-9-]{10}")"$ ]] ||
    complain "version.h says $version, and CHANGELOG.md begins with '$newest'"
debian=$(sed -nE '1s/^duplex \(([0-9.]+)-[0-9]+\).*/\1/p' debian/changelog)
[[ $debian == "$version" ]] || complain "version.h says $version, and debian/changelog $debian"
released=$(sed -nE 's/^## ([0-9.]+ \([0-9-]+\))$/\1/p' CHANGELOG.md)
[[ -n $released ]] || complain "CHANGELOG.md names no release"
grep -qF "$(head -n 1 <<<"$released")" SECURITY.md ||
    complain "SECURITY.md does not name the newest release, $(head -n 1 <<<"$released")"
[[ $newest != *Unreleased* || $'\n'$released != *$'\n'"$version ("* ]] ||
    complain "CHANGELOG.md says that $version was released and that it was not"

# There is nothing that the first release could differ from.
first=$(tail -n 1 <<<"$released")
words=$(sed -n "/^## ${first%% *} /,\$p" CHANGELOG.md | grep -nE '\b(no longer|any more|unchanged|before this|used to)\b|\b(now|formerly)\b' || true)
[[ -z $words ]] || complain "the first release differs from nothing: $words"
exit $failed

#!/usr/bin/env bash
# ./dev asks once before it installs packages: on a terminal, for a user who is not root. sudo, apt-get
# and dpkg-query are stand-ins that write down how they were called.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$1"; failed=1; }

# A copy of ./dev that needs nothing but packages.
mkdir -p "$work/tree/build/deps/yyjson/include" "$work/bin"
cp "$SOURCE/dev" "$work/tree/"
touch "$work/tree/build/deps/yyjson/include/yyjson.h"
cat >"$work/bin/sudo" <<'END'
#!/bin/sh
echo "sudo $*" >>"$CALLS"
exec "$@"
END
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
echo "apt-get $*" >>"$CALLS"
END
# Two packages are missing until apt-get was called.
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
case $package in
cmake | zsh) grep -qs '^apt-get' "$CALLS" || exit 1 ;;
esac
echo "install ok installed"
END
chmod +x "$work"/bin/*
chmod -R a+rwX "$work"
export CALLS=$work/calls PATH=$work/bin:$PATH
unset CI
user=()
[[ $(id -u) != 0 ]] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
dev() { (cd "$work/tree" && "${user[@]}" ./dev "$@"); }

# on_terminal STEPS ARGUMENT...: as terminal-talk.py has it; what was shown is in $work/shown.
on_terminal() {
    local steps=$1
    shift
    rm -f "$CALLS"
    (cd "$work/tree" && printf '%s\n' "$steps" |
        python3 "$SOURCE/tests/check/terminal-talk.py" "${user[@]}" ./dev "$@") >"$work/shown" ||
        complain "./dev $* on a terminal"
}
install='apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 cmake zsh'
# called or not, and with which packages: all in one go.
called() {
    local wanted=$1 found=''
    [[ ! -e $CALLS ]] || found=$(grep '^apt-get' "$CALLS" || true)
    [[ $found == "$wanted" ]] || complain "$2: apt-get was called: '$found', not '$wanted'"
}

on_terminal '< Install them with sudo apt-get? [Y/n]
> n
= 1' setup
called '' "no"
for line in 'dev: these Debian packages are missing:' '  cmake zsh' \
    'dev: nothing was installed; to do it yourself: sudo apt-get install cmake zsh'; do
    tr -d '\r' <"$work/shown" | grep -qxF -- "$line" || complain "no: missing line '$line' in $(cat "$work/shown")"
done

on_terminal '< [Y/n]
> 
< dev: installing from Debian: cmake zsh
= 0' setup
called "$install" "Enter"
grep -q '^sudo env DEBIAN_FRONTEND=noninteractive apt-get install' "$CALLS" || complain "Enter: not with sudo"
(($(grep -c 'Y/n' "$work/shown") == 1)) || complain "it asked more than once"

for answer in y Yes; do
    on_terminal "< [Y/n]
> $answer
= 0" setup
    called "$install" "$answer"
done
on_terminal '< [Y/n]
^ D
= 1' setup
called '' "Ctrl-D"

# --yes, CI, no terminal: it goes on.
on_terminal '= 0' setup --yes
called "$install" "setup --yes"
on_terminal '= 0' --yes setup
called "$install" "--yes setup"
CI=true on_terminal '= 0' setup
called "$install" "CI"
rm -f "$CALLS"
dev setup </dev/null >"$work/out" 2>"$work/err" || complain "./dev setup without a terminal"
called "$install" "no terminal"
[[ ! -s $work/out ]] || complain "set-up lines on standard output: $(cat "$work/out")"
grep -qxF 'dev: installing from Debian: cmake zsh' "$work/err" || complain "no terminal: $(cat "$work/err")"
# Nothing is missing now, so nothing is asked or said.
dev setup </dev/null >"$work/out" 2>&1 || complain "./dev setup a second time"
[[ ! -s $work/out ]] || complain "a second set-up says: $(cat "$work/out")"

# Another distribution: ./dev names what it needs and goes on.
rm -f "$CALLS" "$work/bin/apt-get" "$work/bin/dpkg-query"
for tool in bash env dirname id mkdir cat grep tail cc ld as sed setpriv; do
    ! path=$(PATH=${PATH#*:} command -v "$tool") || ln -sf "$path" "$work/bin/$tool"
done
(PATH=$work/bin && dev setup </dev/null >"$work/out" 2>"$work/err") || complain "./dev setup without apt-get"
grep -q '^dev: this system has no apt-get; make sure that it has the equivalent of: gcc libc6-dev cmake' "$work/err" ||
    complain "without apt-get: $(cat "$work/err")"

code=0
dev biuld 2>"$work/err" || code=$?
[[ $code == 2 && $(cat "$work/err") == "dev: unknown command 'biuld'
hint: ./dev help lists the commands" ]] || complain "an unknown command: $(cat "$work/err")"
exit $failed

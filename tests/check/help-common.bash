# What checks of --help share; they read it. It needs complain().
# shellcheck shell=bash disable=SC2154

# helps LINE COMMAND...: its help begins with that line and has at most 60; it has at least three examples, which run
# as they are pasted into a shell, in an empty folder, if Duplex is installed.
# shellcheck source=/dev/null
. "$SOURCE/tests/check/installed.bash"
helps() {
    local line=$1 place example count=0
    shift
    timeout 5 "$installed/bin/duplex" "$@" --help >helped || complain "duplex $* --help: code $?"
    [[ $(head -n 1 helped) == "$line" ]] || complain "duplex $* --help begins with: $(head -n 1 helped)"
    (($(wc -l <helped) <= 60)) || complain "duplex $* --help has $(wc -l <helped) lines"
    place=$(mktemp -d)
    while IFS= read -r example; do
        count=$((count + 1))
        (cd "$place" && PATH=$installed/bin:$PATH timeout 20 bash -c "$example" </dev/null) >pasted 2>&1 ||
            complain "$example: code $?: $(cat pasted)"
    done < <(sed -n '/^Examples:/,/^$/p' helped | sed -e :join -e '/\\$/{N;s/ *\\\n */ /;bjoin}' | sed -n 's/^    //p')
    rm -rf "$place"
    ((count >= 3)) || complain "duplex $* --help has $count examples"
}

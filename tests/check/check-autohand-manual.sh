#!/usr/bin/env bash
# The two programs of docs/autohand.md are compiled as they stand there, and talk to each other; and what it says to try works.
set -euo pipefail
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
BUILD=$(cd "$BUILD" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v work="$work" '
    /^```c$/ { number++; on = 1; next }
    /^```$/ { on = 0 }
    on { print > (work "/" number ".c") }' "$SOURCE/docs/autohand.md"
from_cache() {
    sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}
library=$(from_cache Yyjson_LIBRARY)
for number in 1 2; do
    cc -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$(from_cache Yyjson_INCLUDE_DIR)" -I"$SOURCE/include" \
        -I"$SOURCE/systems/autohand/include" "$work/$number.c" -o "$work/$number" -L"$BUILD" -lduplex-autohand -lduplex "$library" \
        -Wl,-rpath,"$BUILD" -Wl,-rpath,"${library%/*}"
done
[[ ! -e $work/3.c ]] || { echo "which program is the third one?"; exit 1; }
mkdir "$work/place" "$work/home"
cat >"$work/script" <<'END'
{"match": "add", "text": "It is ", "toolCalls": [{"name": "add", "args": {"a": 2, "b": 40}}]}
{"role": "tool", "match": "42", "text": "42."}
END
out=$(timeout 20 "$work/2" 'add them' "$work/1" "$work/place" "$work/script")
[[ $out == $'It is 42.\ndone, 1 tools' ]] || { echo "it says: $out"; exit 1; }
out=$(timeout 20 "$work/2" 'add them' "$work/1" "$work/absent" "$work/script" 2>&1) || true
[[ $out == *absent* || $out == *workspace* ]] || { echo "without a workspace it says: $out"; exit 1; }

# What it says to try.
cd "$work/place"
export PATH=$BUILD:$PATH HOME=$work/home
tried=0
while read -r line; do
    tried=$((tried + 1))
    timeout 20 bash -c "$line" </dev/null >"$work/out.$tried" 2>"$work/err.$tried" || { echo "$line: $(cat "$work"/*."$tried")"; exit 1; }
done < <(sed -n "s/^    \(duplex autohand prompt .*\)/\1/p" "$SOURCE/docs/autohand.md")
((tried == 3)) || { echo "$tried lines to try"; exit 1; }
[[ $(cat hello.txt) == 'Goodbye!' && $(cat "$work/out.3") == 'Goodbye!' ]] || { echo "it shows $(cat "$work/out.3")"; exit 1; }

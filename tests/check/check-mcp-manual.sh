#!/usr/bin/env bash
# The two programs of docs/mcp.md are compiled as they stand there, and talk to each other; its functions
# are compiled, too.
set -euo pipefail
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v work="$work" '
    /^```c$/ { number++; on = 1; next }
    /^```$/ { on = 0 }
    on { print > (work "/" number ".c") }' "$SOURCE/docs/mcp.md"
from_cache() {
    sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}
library=$(from_cache Yyjson_LIBRARY)
{
    printf '#include <duplex/mcp-client.h>\n#include <duplex/mcp-server.h>\n#include <stdio.h>\n'
    cat "$work/3.c" "$work/4.c" - <<'END'
static void run(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    dx_mcp_work_done(work);
}
int main(int argc, char **argv) {
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    dx_mcp_tool tool = {.name = "t", .input = "{\"type\": \"thing\"}", .call = run};
    dx_mcp_server *server = NULL;
    if (argc > 1) {
        cancel_old(NULL);
        cancel_by_id(NULL, argv[1]);
        call_tool(NULL, dx_json_none());
    }
    if (dx_mcp_server_new(&config, &server, NULL))
        return 2;
    declare(server, &tool);
    dx_mcp_server_free(server);
    return 0;
}
END
} >"$work/functions.c"
mv "$work/functions.c" "$work/3.c"
for number in 1 2 3; do
    cc -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$(from_cache Yyjson_INCLUDE_DIR)" -I"$SOURCE/include" \
        -I"$SOURCE/systems/mcp/include" "$work/$number.c" -o "$work/$number" -L"$BUILD" -lduplex-mcp -lduplex "$library" \
        -Wl,-rpath,"$BUILD" -Wl,-rpath,"${library%/*}"
done
[[ ! -e $work/5.c ]] || { echo "which program is the fifth one?"; exit 1; }
out=$("$work/3")
[[ $out == 't: input: '*type* ]] || { echo "a misfit is: $out"; exit 1; }
out=$(timeout 20 "$work/2" "$work/1")
[[ $out == 42 ]] || { echo "2 + 40 is $out"; exit 1; }
out=$(timeout 20 "$work/2" /nonexistent 2>&1) && { echo "it started what is not there"; exit 1; }
[[ $out == *nonexistent* ]] || { echo "it says: $out"; exit 1; }

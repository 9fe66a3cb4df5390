#!/usr/bin/env bash
# The completions in the shells themselves: what is offered, and what a line becomes at TAB. Verbs and
# options are those of --help, so that new ones need no change here.
set -euo pipefail
for tool in zsh fish python3; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir home bin folder
mkdir -m 700 runtime
export XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/runtime
touch other.json 'some file.json' "it's.json" a=b.json folder/inside.json
echo '{"servers": {"spaced": {"command": "touch hacked"}}}' >'my servers.json'

# What "duplex list --names" says is another's business: here it says this.
cat >bin/duplex <<END
#!/bin/sh
case "\$*" in
"list --names") printf '%s\n' jsonrpc mcp mcp@2025-06-18 mcp@2026-07-28 ;;
"list --names mcp") printf '%s\n' ping tools/call tools/list x:y ;;
"list --names"*) exit 2 ;;
*) exec "$BUILD/duplex" "\$@" ;;
esac
END
printf '#!/bin/sh\n' >bin/one-and-only
chmod +x bin/*
duplex=$BUILD/duplex
failed=0

# A shell that knows nothing of the one who runs it.
clean() {
    env -i PATH="$work/bin:$PATH" HOME="$work/home" TERM=vt100 LC_ALL=C.UTF-8 XDG_CACHE_HOME="$work/cache" \
        XDG_RUNTIME_DIR="$work/runtime" timeout 60 "$@"
}

# same WHAT EXPECTED FOUND
same() {
    [[ $2 == "$3" ]] && return
    echo "$1"
    diff <(echo "$2") <(echo "$3") || true
    failed=1
}

verbs() {
    "$duplex" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The options of a command or subcommand, long and short, as its help lists them.
options() {
    "$duplex" "$@" | sed '/^For packagers:/,$d' | sed -nE 's/^  (-.), (--[a-z0-9-]+).*/\1\n\2/p; s/^  (--[a-z0-9-]+).*/\1/p'
}

# Each shell is asked for a whole file of lines at once: a line, ">" and what is offered for its last
# word. It writes what it offers, and "=" after each line.
cat >compare.py <<'END'
import sys
shell, lines, offers = sys.argv[1:]
wanted = [line.split(">") for line in open(lines).read().splitlines()]
found = open(offers).read().split("=\n")[:-1]
failed = len(wanted) != len(found) and f"{shell}: {len(wanted)} lines, {len(found)} offers"
for (line, want), block in zip(wanted, found):
    have = " ".join(sorted(set(filter(None, block.split("\n")))))
    if have != " ".join(sorted(want.split())):
        failed = f"{shell}: {line}\n< {want}\n> {have}"
        print(failed)
sys.exit(bool(failed) and (failed if "lines" in failed else 1))
END
cat >offer.bash <<END
. $BUILD/share/bash-completion/completions/duplex
offer() {
    COMP_WORDS=("\$@") COMP_CWORD=\$((\$# - 1)) COMP_POINT=\${#COMP_LINE}
    _duplex
    printf '%s\n' "\${COMPREPLY[@]}"
}
while [[ ! \$1 ]] && IFS= read -r COMP_LINE; do
    read -ra words <<<"\$COMP_LINE"
    [[ \$COMP_LINE != *' ' ]] || words+=('')
    offer "\${words[@]}"
    echo =
done
[[ \$WITH ]] && eval "\$WITH"'() { COMPREPLY=("offset \$1"); }'
COMP_LINE=\${LINE-\$*}
[[ ! \$1 ]] || offer "\$@"
END
cat >offer.fish <<END
source $BUILD/share/fish/vendor_completions.d/duplex.fish
while read -l line
    complete -C \$line | string replace -r '\t.*' ''
    echo =
end
END

# --- One line each: what is typed, and what it is after TAB. A bar stands for the cursor. -------
cat >table <<'END'
duplex ca| => duplex call |
duplex call --no-h| => duplex call --no-handshake |
duplex call --framing he| => duplex call --framing header |
duplex call --framing=he| => duplex call --framing=header |
duplex call -f he| => duplex call -f header |
duplex call --stderr qu| => duplex call --stderr quiet |
duplex call --stderr=oth| => duplex call --stderr=other.json |
duplex call --protocol mcp@2026| => duplex call --protocol mcp@2026-07-28 |
duplex call --protocol=mcp@2026| => duplex call --protocol=mcp@2026-07-28 |
duplex call -p aut| => duplex call -p auto |
duplex call -p ./oth| => duplex call -p ./other.json |
duplex call -p mcp tools/l| => duplex call -p mcp tools/list |
duplex call --protocol=mcp x:| => duplex call --protocol=mcp x:y |
duplex call -p mcp tools/list --then pi| => duplex call -p mcp tools/list --then ping |
duplex call -p mcp tools/list pi| => duplex call -p mcp tools/list pi|
duplex call tools/l| => duplex call tools/l|
duplex call -p nothing tools/l| => duplex call -p nothing tools/l|
duplex call ping @oth| => duplex call ping @other.json |
duplex call ping @so| => duplex call ping @some\ file.json |
duplex call ping @folder/| => duplex call ping @folder/inside.json |
duplex call --cwd fol| => duplex call --cwd folder/|
duplex call --cwd oth| => duplex call --cwd oth|
duplex call --record oth| => duplex call --record other.json |
duplex call --record=fol| => duplex call --record=folder/|
duplex call --timeout oth| => duplex call --timeout oth|
duplex call ping -- one-and| => duplex call ping -- one-and-only |
duplex call ping -- ./bin/du| => duplex call ping -- ./bin/duplex |
duplex call ping -- cat oth| => duplex call ping -- cat other.json |
duplex call ping -- cat --fram| => duplex call ping -- cat --fram|
duplex schema oth| => duplex schema other.json |
duplex schema other.json so| => duplex schema other.json some\ file.json |
duplex schema some\ f| => duplex schema some\ file.json |
duplex schema 'some f| => duplex schema 'some file.json' |
duplex schema it\'| => duplex schema it\'s.json |
duplex call --record=a=| => duplex call --record=a=b.json |
duplex schema --with oth| => duplex schema --with other.json |
duplex mcp serve files fol| => duplex mcp serve files folder/|
duplex mcp serve files oth| => duplex mcp serve files oth|
duplex mcp tools --stderr=qu| => duplex mcp tools --stderr=quiet |
duplex run -c my\ servers.json sp| => duplex run -c my\ servers.json spaced |
duplex run --config 'my servers.json' sp| => duplex run --config 'my servers.json' spaced |
duplex --completion zs| => duplex --completion zsh |
duplex --completion=fi| => duplex --completion=fish |
duplex --man notif| => duplex --man notify |
duplex nothing oth| => duplex nothing other.json |
END
# Commands of one name only: bash offers what the PATH has, once for each folder.
cat >setup.bash <<END
PATH=$work/bin:/nowhere
. $BUILD/share/bash-completion/completions/duplex
answer() { printf '%s\n' "\$READLINE_LINE" >>bash.answers; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-xp": answer'
bind 'set bell-style none'
echo ready >>bash.answers
END
# What the functions of zsh offer goes through compadd, so it is written down there.
cat >setup.zsh <<END
path=($work/bin)
fpath=($BUILD/share/zsh/site-functions \$fpath)
autoload -Uz compinit
compinit -u -D
unsetopt beep
compadd() {
    local -a hits
    if [[ " \$* " != *' -'[OAD]' '* ]]; then
        builtin compadd -A hits "\$@"
        print -rl -- \$hits >>offers
    fi
    builtin compadd "\$@"
}
answer() { print -r -- "\$BUFFER" >>zsh.answers; print -r -- = >>offers; BUFFER=; }
zle -N answer
bindkey '^Xp' answer
print ready >>zsh.answers
END

# --- All that is offered, in all three shells at once. -----------------------------------------
# offered LINES [TABLE]: the offers of LINES; in bash and zsh, also what the lines of TABLE become.
offered() {
    local table=${2-/dev/null} jobs=() job
    sed 's/>.*//' "$1" >typed.lines
    sed 's/| => .*//' "$table" | cat typed.lines - >typed
    rm -f offers
    clean bash --norc --noprofile offer.bash '' <typed.lines >bash.offers &
    jobs+=($!)
    clean fish --no-config offer.fish <typed.lines >fish.offers &
    jobs+=($!)
    clean python3 "$here/terminal.py" zsh ./setup.zsh zsh.answers <typed >zsh.found &
    jobs+=($!)
    if [[ -s $table ]]; then
        sed 's/| => .*//' "$table" | clean python3 "$here/terminal.py" bash ./setup.bash bash.answers >bash.found &
        jobs+=($!)
    fi
    for job in "${jobs[@]}"; do wait "$job" || { echo "a shell failed"; failed=1; }; done
    # Offers in zsh: the lines of the table come last.
    awk -v count="$(wc -l <"$1")" '{ print } $0 == "=" && ++n == count { exit }' offers >zsh.offers
    for shell in bash zsh fish; do
        python3 compare.py $shell "$1" $shell.offers || failed=1
    done
    if [[ -s $table ]]; then
        tail -n "+$(($(wc -l <"$1") + 1))" zsh.found >found && mv found zsh.found
        sed 's/.*| => //; s/|$//' "$table" >wanted
        for shell in bash zsh; do
            # bash does not press a space behind the quotation mark.
            same "$shell, after TAB:" "$(sed "s/'\$/' /; s/' \$/'/" wanted)" "$(sed "s/' \$/'/" $shell.found)"
        done
    fi
}
{
    echo "duplex >$(verbs | paste -sd ' ')"
    echo "duplex help >$(verbs | paste -sd ' ')"
    echo "duplex ->$(options --help-all | paste -sd ' ')"
    for verb in $(verbs); do echo "duplex $verb ->$(options "$verb" --help-all | paste -sd ' ')"; done
    cat <<'END'
duplex call --framing >auto header line
duplex help ca>call
duplex help call >
duplex help -->
duplex help finecode ru>run runners
duplex help mcp tools >call list
duplex help mcp tools call >
END
} >first
offered first table

# bash, without a terminal: WORD...; what is offered for the last of them.
bash_offers() {
    clean bash --norc --noprofile offer.bash "$@" | sort
}
same "bash: protocols" $'auto\nfolder/\njsonrpc\nmcp\nmcp@2025-06-18\nmcp@2026-07-28\nother.json' \
    "$(bash_offers duplex call -p '' | grep -v -e some -e '^bin/' -e home -e '^my' -e runtime -e '\.bash' -e '\.zsh' -e '^[a-z]*ed$' -e table -e answers -e offer -e found -e a= -e it -e typed -e compare -e first)"
# Pieces as bash cuts them, and bash-completion at hand for what follows "--": it counts those.
same "bash: = cut" $'auto\nheader\nline' "$(clean env LINE='duplex call --framing=' bash --norc offer.bash duplex call --framing = | sort)"
for name in _command_offset _comp_command_offset; do
    same "bash: $name" "offset 7" \
        "$(clean env WITH=$name LINE='duplex call --framing=line ping -- ca' bash --norc offer.bash duplex call --framing = line ping -- ca)"
done

fish_offers() {
    # shellcheck disable=SC2016 # fish expands these
    clean fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$BUILD/share/fish/vendor_completions.d/duplex.fish" "$1"
}
names() {
    cut -f1 | sort
}
cat >lines <<'END'
duplex call --no-h>--no-handshake
duplex call --framing >auto header line
duplex call --framing=he>--framing=header
duplex call -f he>header
duplex call --stderr=qu>--stderr=quiet
duplex call --stderr oth>other.json
duplex call --protocol mcp@>mcp@2025-06-18 mcp@2026-07-28
duplex call -p mcp tools/>tools/call tools/list
duplex call --protocol=mcp pi>ping
duplex call -p mcp ping --then x>x:y
duplex call -p mcp ping x>
duplex call tools/>
duplex call ping @oth>@other.json
duplex call --cwd fol>folder/
duplex call --cwd oth>
duplex call --timeout oth>
duplex call ping -- one-and>one-and-only
duplex call ping -- cat oth>other.json
duplex call ping -- cat --framing oth>other.json
duplex schema oth>other.json
duplex --completion f>fish
duplex --man notif>notify
duplex mcp serve files fol>folder/
duplex mcp serve files oth>
duplex run -c my\ servers.json >spaced
duplex run --config 'my servers.json' sp>spaced
duplex mcp tools --stderr qu>quiet
duplex mcp tools --stderr=qu>--stderr=quiet
END
sed 's/>.*//' lines | clean fish --no-config offer.fish >fish.offers
python3 compare.py fish lines fish.offers || failed=1
# Descriptions are those of the table.
same "fish: description" "$("$duplex" --help | sed -n 's/^  call *//p')" "$(fish_offers 'duplex cal' | cut -f2)"
grep -qF -- "--no-handshake[skip the handshake]" "$BUILD/share/zsh/site-functions/_duplex" || { echo "zsh has no descriptions"; failed=1; }

# The real names, where the command has that verb.
if verbs | grep -qx list; then
    ln -sf "$duplex" bin/duplex
    "$duplex" list --names >protocols
    "$duplex" list --names mcp >messages
    same "bash: real protocols" "$(grep '^mcp' protocols | sort)" "$(bash_offers duplex call -p mcp)"
    same "fish: real messages" "$(sort -u messages)" "$(fish_offers 'duplex call -p mcp ' | names)"
    rm bin/duplex
fi

# --- What is known only at run time, in all three shells. --------------------------------------
# A line, and what is offered for its last word; "@" is the real command. TAB starts no server.
ln -sf "$duplex" bin/duplex
cat >servers.json <<'END2'
{"mcpServers": {"adder": {"command": "./adder"}, "files": {"command": "x"}, "odd name": {"command": "x"}}}
END2
cat >run.json <<END2
{"mcpServers": {"alpha": {"command": "$BUILD/examples/mcp-adder"}, "beta": {"command": "$BUILD/examples/mcp-adder"}}}
END2
"$BUILD/duplex" run --config run.json >run.log 2>&1 &
run=$!
trap 'kill $run 2>/dev/null || true; wait $run || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    if "$duplex" --names peers >/dev/null 2>&1; then break; fi
    sleep 0.1
done
# Names that a shell would take for something else are not kept.
cat >tools.py <<'END2'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif message.get("method") == "tools/list":
        names = ["weather", "we$(touch hacked)", "-w", "we ird", "web\x1b[31m", "w" * 200, "web.search"]
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
END2
"$duplex" mcp tools -- python3 tools.py >/dev/null 2>&1 || { echo "no tools"; failed=1; }
"$duplex" mcp tools -- "$BUILD/examples/mcp-adder" >/dev/null 2>&1 || { echo "no tools"; failed=1; }
same "seen tools" $'add\ncount\nweather\nweb.search' "$("$duplex" --names tools | sort)"
same "seen tools: mode" "600 700" "$(stat -c %a cache/duplex/tools) $(stat -c %a cache/duplex)"
(($(stat -c %s cache/duplex/tools) < 32768)) || { echo "seen tools: too large"; failed=1; }
# The newest 32 KiB are kept.
python3 -c 'print("\n".join(f"old{i:04}" for i in range(9999)))' >cache/duplex/tools
"$duplex" mcp tools -- "$BUILD/examples/mcp-adder" >/dev/null 2>&1
same "seen tools: newest first" $'add\ncount\nold0000' "$(head -n 3 cache/duplex/tools)"
(($(stat -c %s cache/duplex/tools) <= 32768)) || { echo "seen tools: too large"; failed=1; }
# Not over a link, and not at all where nothing can be written.
echo untouched >mine
ln -sf "$work/mine" cache/duplex/tools
"$duplex" mcp tools -- "$BUILD/examples/mcp-adder" >/dev/null 2>&1
same "seen tools: a link" untouched "$(cat mine)"
rm cache/duplex/tools
XDG_CACHE_HOME=/proc/nowhere "$duplex" mcp tools -- "$BUILD/examples/mcp-adder" >/dev/null 2>err || { echo "seen tools: no folder"; failed=1; }
same "seen tools: no folder is not reported" "" "$(cat err)"
"$duplex" mcp tools -- python3 tools.py >/dev/null 2>&1

# The names of a kind that the table of a command has.
subcommands() {
    "$duplex" "$1" --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z -]*[a-z]\)   *[A-Z].*/\1/p'
}
cat >lines <<'END2'
duplex call --in al>alpha
duplex call --in >alpha beta
duplex logs b>beta
duplex restart alpha be>beta
duplex down al>alpha
duplex run --config servers.json >adder files
duplex run --config servers.json adder fi>files
duplex run --name x --config=servers.json ad>adder
duplex run -c servers.json fi>files
duplex run -c ~/home.json >at-home
duplex run >
duplex run --config absent.json >
duplex mcp tools --config servers.json --server >adder files
duplex mcp tools --config=servers.json --server fi>files
duplex mcp tools -c servers.json --server ad>adder
duplex mcp tools --config absent.json --server >
duplex mcp tools call add --config servers.json --server >adder files
duplex mock --fault result-f>result-fit
duplex check --only id.o>id.once
duplex check --skip id.e>id.echoed
duplex docs tra>trace
duplex hermes host oth>other.json
duplex mcp tools list >
duplex mcp tools list ->--color --config --connect --cwd --env --help --help-all --in --json --record --server --timeout -c -e -h -o -t
duplex mcp tools call add --progr>--progress
duplex mcp tools call add --hid>
duplex mcp tools call --config servers.json --pro>--progress
duplex mcp tools list --pro>
duplex mcp resources --pro>
duplex mcp resources read --m>
duplex mcp serve --m>--max-size
duplex mcp serve command --m>
duplex mcp serve files --m>--max-size
duplex mcp serve files --con>
duplex mcp serve command oth>other.json
duplex mcp complete >prompt template
duplex mcp complete prompt >
duplex mcp --json tools --hid>
duplex mcp tools --mode mo>modern
duplex mcp tools -s --stderr qu>quiet
duplex finecode run --port>
duplex finecode serve --port>--port --port-file
duplex finecode er >handlers start version
duplex finecode er ->--color --help --help-all --json -h
duplex autohand chat --yo>
duplex autohand agent --yo>--yolo
duplex autohand agent --y>--yolo
duplex autohand chat --y>--yes
duplex reginald plugins --dr>
duplex reginald attend --dr>--dry-run
duplex reginald plugins oth>
duplex mcp tools call we>weather web.search
duplex mcp --stderr quiet tools ca>call
END2
echo '{"peers": {"at-home": {"command": "touch hacked"}}}' >home/home.json
first_words() { cut -d' ' -f1 | sort -u | paste -sd ' '; }
for command in mcp hermes reginald finecode autohand; do
    names=$(subcommands $command)
    [[ $names ]] || { echo "duplex $command: no subcommands"; failed=1; }
    echo "duplex $command >$(first_words <<<"$names")" >>lines
    # After a subcommand only the options that its help lists are offered.
    while read -ra one; do
        [[ ${one[*]} != er ]] || continue # its options are not in the table of finecode
        echo "duplex $command ${one[*]} ->$(options $command "${one[@]}" --help | paste -sd ' ') --help-all" >>lines
    done <<<"$names"
done
# Words that may follow a subcommand: the others that begin with it, and those of its usage.
cat >>lines <<'END2'
duplex mcp tools >call list
duplex mcp resources >list read
duplex mcp templates >list
duplex mcp prompts >get list
duplex mcp serve >command files
duplex mcp info >
END2
offered lines
[[ ! -e hacked ]] || { echo "the name of a tool was run"; failed=1; }
kill $run
wait $run || true
# A run that hangs does not hang the shell; and nothing is said where there is none.
same "no run" "" "$("$duplex" --names peers 2>/dev/null || true)"
rm bin/duplex

# Where there is no "duplex list", nothing is said and nothing breaks.
printf '#!/bin/sh\necho trouble >&2\nexit 2\n' >bin/duplex
chmod +x bin/duplex
same "bash: no list" "auto" "$(bash_offers duplex call -p au)"
same "fish: no list" "auto" "$(fish_offers 'duplex call -p au' 2>&1 | names)"
exit $failed

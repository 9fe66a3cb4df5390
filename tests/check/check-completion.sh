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
touch other.json 'some file.json' "it's.json" a=b.json folder/inside.json

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
    env -i PATH="$work/bin:$PATH" HOME="$work/home" TERM=vt100 LC_ALL=C.UTF-8 timeout 30 "$@"
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

# The options of a verb, long and short, sorted.
options() {
    "$duplex" "$@" --help-all | sed -nE 's/^  (-.), (--[a-z0-9-]+).*/\1\n\2/p; s/^  (--[a-z0-9-]+).*/\1/p' | sort
}

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
duplex --completion zs| => duplex --completion zsh |
duplex --completion=fi| => duplex --completion=fish |
duplex --man notif| => duplex --man notify |
duplex nothing oth| => duplex nothing other.json |
END
sed 's/| => .*//' table >typed
sed 's/.*| => //; s/|$//' table >wanted
# Commands of one name only: bash offers what the PATH has, once for each folder.
cat >setup.bash <<END
PATH=$work/bin:/nowhere
. $BUILD/share/bash-completion/completions/duplex
answer() { printf '%s\n' "\$READLINE_LINE" >>answers; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-xp": answer'
bind 'set bell-style none'
echo ready >>answers
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
answer() { print -r -- "\$BUFFER" >>answers; print -r -- = >>offers; BUFFER=; }
zle -N answer
bindkey '^Xp' answer
print ready >>answers
END
for shell in bash zsh; do
    clean python3 "$here/terminal.py" $shell ./setup.$shell answers <typed >found || { echo "$shell failed"; failed=1; }
    # bash does not press a space behind the quotation mark.
    same "$shell, after TAB:" "$(sed "s/'\$/' /; s/' \$/'/" wanted)" "$(sed "s/' \$/'/" found)"
done

# --- All that is offered. ----------------------------------------------------------------------
# zsh: one line each; the offers between two "=" belong to it.
{
    echo 'duplex '
    for verb in $(verbs); do echo "duplex $verb -"; done
    echo 'duplex -'
} >typed
rm -f offers
clean python3 "$here/terminal.py" zsh ./setup.zsh answers <typed >/dev/null || { echo "zsh failed"; failed=1; }
zsh_offers() {
    awk -v want="$1" 'BEGIN { at = 1 } $0 == "=" { at++; next } at == want && NF' offers | sort -u
}
same "zsh: verbs" "$(verbs | sort)" "$(zsh_offers 1)"
number=1
for verb in $(verbs); do
    number=$((number + 1))
    same "zsh: duplex $verb -" "$(options "$verb")" "$(zsh_offers $number)"
done
same "zsh: duplex -" "$(options)" "$(zsh_offers $((number + 1)))"

# bash, without a terminal: WORD...; what is offered for the last of them.
cat >offer.bash <<END
. $BUILD/share/bash-completion/completions/duplex
[[ \$WITH ]] && eval "\$WITH"'() { COMPREPLY=("offset \$1"); }'
COMP_WORDS=("\$@") COMP_CWORD=\$((\$# - 1)) COMP_LINE=\${LINE-\$*} COMP_POINT=\${#COMP_LINE}
_duplex
printf '%s\n' "\${COMPREPLY[@]}"
END
bash_offers() {
    clean bash --norc --noprofile offer.bash "$@" | sort
}
same "bash: verbs" "$(verbs | sort)" "$(bash_offers duplex '')"
same "bash: duplex -" "$(options)" "$(bash_offers duplex -)"
for verb in $(verbs); do
    same "bash: duplex $verb -" "$(options "$verb")" "$(bash_offers duplex "$verb" -)"
done
same "bash: choices" $'auto\nheader\nline' "$(bash_offers duplex call --framing '')"
same "bash: protocols" $'auto\nfolder/\njsonrpc\nmcp\nmcp@2025-06-18\nmcp@2026-07-28\nother.json' \
    "$(bash_offers duplex call -p '' | grep -v -e some -e '^bin/' -e home -e '\.bash' -e '\.zsh' -e '^[a-z]*ed$' -e table -e answers -e offers -e found -e a= -e it)"
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
same "fish: verbs" "$(verbs | sort)" "$(fish_offers 'duplex ' | names)"
same "fish: duplex -" "$(options)" "$(fish_offers 'duplex -' | names)"
for verb in $(verbs); do
    same "fish: duplex $verb -" "$(options "$verb")" "$(fish_offers "duplex $verb -" | names)"
done
while IFS='>' read -r line wanted; do
    same "fish: $line" "$wanted" "$(fish_offers "$line" | names | paste -sd ' ')"
done <<'END'
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
END
# Descriptions are those of the table.
same "fish: description" "$("$duplex" --help | sed -n 's/^  call *//p')" "$(fish_offers 'duplex cal' | cut -f2)"
grep -qF -- "--no-handshake[begin without one]" "$BUILD/share/zsh/site-functions/_duplex" || { echo "zsh has no descriptions"; failed=1; }

# The real names, where the command has that verb.
if verbs | grep -qx list; then
    ln -sf "$duplex" bin/duplex
    "$duplex" list --names >protocols
    "$duplex" list --names mcp >messages
    same "bash: real protocols" "$(grep '^mcp' protocols | sort)" "$(bash_offers duplex call -p mcp)"
    same "fish: real messages" "$(sort -u messages)" "$(fish_offers 'duplex call -p mcp ' | names)"
    rm bin/duplex
fi

# Where there is no "duplex list", nothing is said and nothing breaks.
printf '#!/bin/sh\necho trouble >&2\nexit 2\n' >bin/duplex
chmod +x bin/duplex
same "bash: no list" "auto" "$(bash_offers duplex call -p au)"
same "fish: no list" "auto" "$(fish_offers 'duplex call -p au' 2>&1 | names)"
exit $failed

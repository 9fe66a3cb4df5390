#!/usr/bin/env bash
# The man pages: they render without a warning, and say what --help says.
set -euo pipefail
for tool in man groff mandoc python3; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
export LC_ALL=C.UTF-8 MANWIDTH=80 MANROFFSEQ='' MAN_KEEP_FORMATTING=''
unset MANOPT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
duplex=$BUILD/duplex
man=$BUILD/share/man
failed=0

fail() {
    echo "$*"
    failed=1
}

# Without a terminal man writes plain text.
render() {
    timeout 20 man -E UTF-8 -l "$1" | cat
}

# lint PAGE: a page has no date, so that it is the same each time it is made; else nothing is missing.
lint() {
    { timeout 20 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" >/dev/null; } 2>&1
    timeout 20 groff -man -t -ww -z -Tutf8 "$1" 2>&1
    timeout 20 mandoc -T lint -W warning "$1" | grep -v 'missing date, using ""' || true
}
# --- Every page is there, and nothing is wrong with it. ----------------------------------------
verbs=$("$duplex" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z][a-z-]*\) .*/\1/p')
{
    echo man1/duplex.1
    for verb in $verbs; do echo "man1/duplex-$verb.1"; done
    for name in config mcp-command protocol trace; do
        if [[ -e $SOURCE/docs/$name.md ]]; then echo "man5/duplex-$name.5"; fi
    done
    for page in "$SOURCE"/docs/protocols/*.md; do echo "man7/duplex-$(basename "$page" .md).7"; done
    for header in "$SOURCE"/{,systems/*/}include/duplex/*.h; do
        case $header in */duplex.h | */version.h) ;; *) echo "man3/duplex-$(basename "$header" .h).3" ;; esac
    done
} | sort >"$work/wanted"
(cd "$man" && find . -type f -name 'duplex*' -printf '%P\n' | sort) >"$work/found"
diff "$work/wanted" "$work/found" || fail "other pages than expected were made"

# Every function that the libraries export has a page of its own.
nm -D --defined-only "$BUILD"/libduplex*.so | sed -nE 's/.* T (dx_[a-z0-9_]+)(@.*)?$/\1.3/p' | sort -u >"$work/functions"
(cd "$man/man3" && find . -name 'dx_*' -printf '%P\n' | sort) | diff "$work/functions" - || fail "other functions than expected have pages"
(($(wc -l <"$work/functions") > 400)) || fail "too few functions"
while read -r page; do
    grep -q "${page%.3}(" "$man/man3/$page" || fail "$page does not show its function"
    said=$(lint "$man/man3/$page")
    [[ -z $said ]] || fail "$page: $said"
done < <(shuf -n 40 --random-source=/etc/passwd "$work/functions"; echo dx_link_call.3)
# man opens at the function: its declaration is on the first screen, its comment below it.
timeout 20 man -M "$man" -E UTF-8 3 dx_link_call | head -n 24 >"$work/first"
grep -q '^       dx_status dx_link_call(dx_link \*link' "$work/first" || fail "man dx_link_call does not open at the function: $(cat "$work/first")"
grep -q '^DESCRIPTION' "$work/first" || fail "man dx_link_call: no description: $(cat "$work/first")"

# A page says what its header says, word for word; the first letter is a capital.
python3 - "$SOURCE" "$man/man3" <<'END' || failed=1
import collections, pathlib, re, subprocess, sys

def words(text):
    return collections.Counter(word for word in text.lower().split() if word not in ("-", "\u2022"))

bad = 0
source, man = map(pathlib.Path, sys.argv[1:])
for header in sorted([*source.glob("include/duplex/*.h"), *source.glob("systems/*/include/duplex/*.h")]):
    page = man / f"duplex-{header.stem}.3"
    if not page.exists():
        continue  # told above if it should be there
    text = header.read_text(encoding="utf-8")
    text = re.sub(r'^#(?!define (?!DUPLEX_\w+$)).*$|^extern "C" \{$|^\}$|^.*clang-format.*$', "", text, flags=re.M)
    # Comments inside of a declaration stand as they are.
    text = re.sub(r"^/\* ?(.*?)\*/", lambda found: re.sub(r"^ \*", "", found[1], flags=re.M), text, flags=re.M | re.S)
    text = re.sub(r"\bduplex/[a-z0-9-]+\.h:", "", text, count=1).replace("DX_API ", "")
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000", page], capture_output=True, encoding="utf-8", check=True).stdout
    lost = words(text) - words(re.sub(".\b", "", shown).partition("\nDESCRIPTION\n")[2])
    if lost:
        print(f"{page.name} lacks {dict(lost)}")
        bad = 1
sys.exit(bad)
END

while read -r page; do
    said=$(lint "$man/$page")
    [[ -z $said ]] || fail "$page: $said"
    # What it refers to is there; docs/config.md may not be written yet.
    while read -r name section; do
        [[ -e $man/man$section/$name.$section || $name == duplex-config ]] ||
            fail "$page refers to $name($section)"
    done < <(sed -nE 's/\\fB(duplex[a-z0-9@\-]*)\\fR\(([0-9])\)/\n\1 \2\n/gp' "$man/$page" |
        sed -nE 's/\\-/-/g; /^duplex[^ ]* [0-9]$/p' | sort -u)
done <"$work/wanted"

# --- Help and page agree, and help fits 80 columns. --------------------------------------------
mkdir "$work/text"
for verb in '' $verbs; do
    page=duplex${verb:+-$verb}
    render "$man/man1/$page.1" >"$work/text/$page.man"
    # shellcheck disable=SC2086 # no command is no word
    "$duplex" $verb --help-all >"$work/text/$page.help"
    # shellcheck disable=SC2086
    "$duplex" $verb --help >"$work/text/$page.short"
done
python3 - "$work/text" <<'END' || failed=1
import pathlib, re, sys

bad = 0
def fail(text):
    global bad
    print(text)
    bad = 1

def flat(text):
    return " ".join(text.split())

for help in sorted(pathlib.Path(sys.argv[1]).glob("*.help")):
    name = help.stem
    text = help.read_text(encoding="utf-8")
    page = help.with_suffix(".man").read_text(encoding="utf-8")
    for line in text.splitlines():
        if len(line) > 80:
            fail(f"{name}: help is wider than 80 columns: {line}")
    short = help.with_suffix(".short").read_text(encoding="utf-8")
    for line in short.splitlines():
        if len(line) > 80:
            fail(f"{name}: help is wider than 80 columns: {line}")
    if "unknown option" in short:
        fail(f"{name}: the table shows an option that there is not")
    # All options, whatever the lists above them are.
    at_options = r"^(?:  (?:-\w, )?(--[a-z0-9-]+))"
    options = re.findall(at_options, text, re.M)
    in_page = re.findall(r"^       (?:-\w, )?(--[a-z0-9-]+)", page.split("\nOPTIONS")[1].split("\nEXIT")[0], re.M)
    if options != in_page:
        fail(f"{name}: help has the options {options}, the page {in_page}")
    if not options:
        fail(f"{name}: no options at all")
    if not set(re.findall(at_options, short, re.M)) <= set(options):
        fail(f"{name}: --help has options that --help-all lacks")
    # Each option with its text, and each paragraph, whatever the lines are broken at.
    page = flat(page)
    head, _, tail = text.partition("\n\nExamples:")
    body = head.split("\n\n", 2)[2] + "\n\n" + (tail.partition("\n\n")[2] if tail else "")
    for part in re.split(r"\n\n|\n(?=  -)", body):
        part = re.sub(r"^[A-Z][\w, -]+:(\n|$)", "", part)
        if part.startswith(" ") and not part.startswith("  -"):
            continue  # the list of commands
        if flat(part) not in page:
            fail(f"{name}: the page lacks: {flat(part)}")
    for example in re.findall(r"^    (duplex (?:.*\\\n)*.*)", tail.partition("\n\n")[0], re.M):
        # The page is for an installed copy.
        installed = re.sub(r"\S*/libexec/duplex\b", "build/examples", page)
        if flat(example.replace("\\\n", "")) not in flat(installed.replace("\\ ", "")):
            fail(f"{name}: the page lacks: {example}")
    for code in ("0 success", "2 invalid usage", "130 interrupted", "ENVIRONMENT NO_COLOR", "SEE ALSO duplex"):
        if code not in page:
            fail(f"{name}: the page lacks: {code}")
sys.exit(bad)
END
grep -q '^ *7      something does not match' "$work/text/duplex-schema.man" || fail "duplex-schema: code 7 is missing"
grep -q '^ *4  ' "$work/text/duplex-schema.man" && fail "duplex-schema: it has no code 4"

# --- Markdown. ---------------------------------------------------------------------------------
cat >"$work/odd.md" <<'END'
# The "odd" `page`

.so /etc/passwd is text, and so is
'br and \fB and a back\\slash, "quotes", `a\.b`, -x, --long-option, ^, ~ and 10 µs … ≥.
Two  spaces and **strong
text**, *emphasis*, snake_case_name, 2 * 3 * 4, [the format](trace.md#there), [a place](https://example.org/x),
docs/trace.md, docs/other.md, `` a`b `` and an `open quote; &lt;tag&gt;.

- one,
  continued
  - deeper
- two

  with more

1. first
1. second

```json
.nf "quoted" \n 'x'
  indented	tab
```

> said by
> others

| | |
| --- | --- |
| .dot | `a\|b` |
| _ | = |
| T{ | |

| name | what it is | and that | | fifth |
| --- | --- | --- | --- | --- |
| `first` | a text that is long enough to be too wide for a column of its own | another text that is as long as that | yes | no |
| second | | | a word | |

## `x-duplex` of a thing
### Last
end
END
cat >"$work/wanted" <<'END'
NAME
       duplex-odd - the "odd" page

DESCRIPTION
       .so /etc/passwd is text, and so is 'br and \fB and a back\slash,
       "quotes", a\.b, -x, --long-option, ^, ~ and 10 µs … ≥. Two spaces and
       strong text, emphasis, snake_case_name, 2 * 3 * 4, the format
       (duplex-trace(5)), a place <https://example.org/x>, duplex-trace(5),
       docs/other.md, a`b and an `open quote; <tag>.

       • one, continued

         • deeper

       • two

         with more

       1.  first

       2.  second

           .nf "quoted" \n 'x'
             indented tab

           said by others

       .dot   a|b
       _      =
       T{

       first  what it is: a text that is long enough to be too wide for a
              column of its own
              and that: another text that is as long as that
              yes; fifth: no

       second a word

x-duplex OF A THING
   Last
       end

SEE ALSO
       duplex(1)
END
"$duplex" --man-page "$work/odd.md" odd 5 >"$work/odd.5"
said=$(lint "$work/odd.5")
[[ -z $said ]] || fail "odd.5: $said"
render "$work/odd.5" | sed '1,2d' | head -n -2 >"$work/found"
diff "$work/wanted" "$work/found" || fail "Markdown is rendered otherwise"

# A name stands in a macro's argument.
"$duplex" --man-page "$work/odd.md" 'o"d\d' 5 >"$work/name.5"
[[ $(render "$work/name.5" | head -n 1) == 'duplex-o"d\d(5) '*'duplex-o"d\d(5)' ]] || fail "a name is not quoted"

# What is no Markdown at all: a page all the same, of ASCII, without a request that is not ours.
python3 - "$work" <<'END'
import random, sys
random.seed(7)
pieces = ["`", "``", "*", "**", "_", "[", "](", ")", "![", "<", "&lt;", "|", "\n", "\n\n", "- ", "  - ", "1. ", "```\n", "# ", "> ", "<!--",
          "-->", "\\", ".", "'", "\n.sy x\n", "\n'so y\n", "\t", "\r\n", "é", "\x00", "\x1b[0m", "\x9b", "a", " ", "docs/", ".md", "trace"]
with open(sys.argv[1] + "/every.md", "wb") as file:
    file.write(bytes(range(256)) * 3)
for name in range(40):
    with open(f"{sys.argv[1]}/random{name}.md", "wb") as file:
        text = "".join(random.choice(pieces) for _ in range(random.choice([30, 300, 3000])))
        file.write(text.encode("latin-1" if name % 2 else "utf-8"))
for name, text in {"deep": "".join(" " * 2 * i + "- x\n" for i in range(40)), "wide": "|" + "x|" * 60 + "\n",
                   "open": "[" * 200000, "ticks": "".join("`" * (i % 50) + "x" for i in range(20000)), "stars": "**a *b " * 50000}.items():
    with open(f"{sys.argv[1]}/{name}.md", "w") as file:
        file.write(text)
END
for file in "$work"/{every,deep,wide,open,ticks,stars,random*}.md; do
    timeout 10 "$duplex" --man-page "$file" x 5 >"$work/x.5" || fail "$file: no page"
    if LC_ALL=C grep -nE '[^ -~	]|\[u00([01][0-9A-F]|7F|[89])' "$work/x.5"; then fail "$file: the page has control characters"; fi
    if grep -nE "^['.]" "$work/x.5" | grep -vE "^[0-9]+:(\.(TH|SH|SS|PP|IP|RS|RE|EX|EE|TP|TS|TE|br|nh|ad|nr|\\\\\")( |$)|'\\\\\")"; then
        fail "$file: the page has a request that is not ours"
    fi
done

# --- The same each time; and what can go wrong. ------------------------------------------------
mapfile -t headers < <(printf '%s\n' "$SOURCE"/{,systems/*/}include/duplex/*.h | grep -vE '/(duplex|version)\.h$')
"$duplex" --share "$work/share" "$SOURCE/docs" "${headers[@]}"
diff -r --exclude doc "$BUILD/share" "$work/share" || fail "the build's folder is not what is made now"
for verb in $verbs; do
    "$duplex" --man "$verb" | cmp - "$man/man1/duplex-$verb.1" || failed=1
done
"$duplex" --man | cmp - "$man/man1/duplex.1" || failed=1
"$duplex" --man-protocol mcp | cmp - "$man/man7/duplex-mcp.7" || failed=1

# expect CODE ERROR ARGUMENT...
expect() {
    local code=$1 error=$2 got=0
    shift 2
    "$duplex" "$@" >"$work/out" 2>"$work/err" || got=$?
    if ((got != code)) || [[ $(cat "$work/err") != *"$error"* ]] || [[ $(grep -vc '^hint: ' "$work/err") != 1 ]]; then
        fail "duplex $*: code $got, expected $code: $(cat "$work/err")"
    fi
}
touch "$work/file"
expect 2 "unknown command 'nothing'" --man nothing
expect 2 "too many arguments" --man call call
expect 2 "too few arguments" --man-page "$work/odd.md" odd
expect 2 "cannot read $work/absent.md: No such file" --man-page "$work/absent.md" odd 5
expect 2 "nothing" --man-protocol nothing
expect 2 "expected bash, zsh or fish, got 'csh'" --completion csh
expect 2 "too few arguments" --completion
expect 2 "cannot be written: Not a directory" --share "$work/file/x"
expect 2 "cannot read $work/absent.h: No such file" --share "$work/again" "$SOURCE/docs" "$work/absent.h"
expect 2 "file begins without a comment" --share "$work/again" "$SOURCE/docs" "$work/file"
printf '/*' >"$work/file"
expect 2 "file begins without a comment" --share "$work/again" "$SOURCE/docs" "$work/file"
got=0
"$duplex" --man >/dev/full 2>"$work/err" || got=$?
((got == 2)) || fail "a full disk gives $got"
exit $failed

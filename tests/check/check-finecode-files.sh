#!/usr/bin/env bash
# duplex finecode and the files of real projects: odd ones, those that are named, and what is changed in them. clang-format
# alone says what is right.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1
for tool in clang-format shellcheck patch git; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
# The repository around a build folder is none of its business.
export GIT_CEILING_DIRECTORIES=$work

# ready FOLDER [CONFIG]: a project with ready-made handlers.
ready() {
    mkdir -p "$1"
    cat >"$1/finecode.toml" <<END
[finecode.er]
runner = "duplex"
[finecode.action.lint]
source = "duplex.Lint"
handlers = [{ name = "layout", source = "duplex.clang_format_check", env = "c" }]
[finecode.action.analyse]
source = "duplex.Analyse"
handlers = [{ name = "shell", source = "duplex.shellcheck", env = "c" }]
[finecode.action.format]
source = "duplex.Format"
handlers = [{ name = "layout", source = "duplex.clang_format", env = "c", config = { ${2:-} } }]
END
}

# --- Odd files -----------------------------------------------------------------------------------
ready odd
(
    cd odd || exit
    : >empty.c
    : >empty.sh
    printf '\n' >line.c
    printf '\n\n  ' >blank.c
    printf 'int   a;' >open.c
    printf '\xef\xbb\xbfint   a;\n' >bom.c
    printf '\xef\xbb\xbf' >bom-only.c
    printf 'int   a;\r\n\r\n\r\n\r\nint   b;\r\n' >crlf.c
    printf 'int   a;\rint   b;\n' >cr.c
    printf '/* \xff\xf0\x9f\x98\x80 */ int   a;   /* \xe2\x82 */ int   b;\n' >latin.c
    printf 'int   a;\0 int   b;\n' >nul.c
    printf '/* \xe2\x80\xa8 \f \v */ int   a;  int   b;\n' >separators.c
    for name in 'a b.c' $'a\nb.c' -x.c '&#%.c' "it's \"it\".c" $'\xff.c' 'ä🙂.c' '<replacements>.c'; do
        printf 'int   a;\n' >"./$name"
    done
    ln -s open.c link.c
    ln -s nowhere.c broken.c
    mkfifo pipe.c
    mkdir folder.c
)
cp -a odd alone
(cd alone && find . -type f -name '*.c' -exec clang-format -i {} +)
expect 1 'cr.c:2:9: warning: code should be clang-formatted' '' -w odd run lint
expect 0 'formatted: ' '' -w odd run format
gone
rm odd/finecode.toml alone/finecode.toml
diff -r odd alone 2>&1 | grep -av pipe.c >differences && complain "$(cat differences)"
[[ -L odd/link.c && ! -s odd/empty.c ]] || complain "link.c or empty.c is another file now"
ready odd
expect 0 'all files are formatted' '' -w odd run format
# What is empty is no reason for a linter not to look at it: it says what the tool alone says.
[[ $(cd odd && shellcheck -f json1 empty.sh) == *2148* ]] || complain "shellcheck finds nothing in an empty file any more"
expect 1 'SC2148' '' -w odd run analyse
# Whatever fails names the file.
mkdir wrong
ready wrong 'jobs = 1, args = ["--no-such-option"]'
printf 'int   a;\n' >wrong/first.c
cp wrong/first.c wrong/second.c
expect 8 '' "$work/wrong/first.c and 1 more: clang-format exited with code 1: " -w wrong run format
# … and is said once: the runner logs it, too.
lacks err 'finecode.er: Running action handler'
ready wrong
printf '#include "b\xff.h"\n#include "a.h"\n' >wrong/first.c
expect 8 '' "$work/wrong/first.c: clang-format replaces text that is not valid UTF-8; convert the file, or exclude it" -w wrong run format
truncate -s 65M wrong/first.c
expect 8 '' "cannot read $work/wrong/first.c: File too large" -w wrong run format
[[ $(cat wrong/second.c) == 'int   a;' ]] || complain "second.c was formatted"
# A program that is not installed: how it can be.
printf '#!/bin/sh\nPATH=/nowhere exec %s "$@"\n' "$finecode" >bare
chmod +x bare
finecode=$work/bare expect 8 '' 'cannot start clang-format: it is not in PATH,' -w odd run format
sed -i 's/duplex.clang_format"/duplex.eslint_fix"/' odd/finecode.toml
: >odd/x.js
finecode=$work/bare expect 8 '' 'cannot start eslint: it is not in node_modules/.bin or PATH; install it with npm install --save-dev eslint,' -w odd run format

# --- Which files ---------------------------------------------------------------------------------
ready repo/a
ready repo/b
ready repo/b/inner
mkdir -p repo/a/src/deep repo/plain repo/a/node_modules
fill() {
    for file in a/x.c a/src/y.c a/src/deep/z.c a/node_modules/n.c b/x.c b/inner/x.c plain/x.c; do
        printf 'int   a;\n' >"repo/$file"
    done
}
# formatted FILE...: of those in repo; and then they are as before.
formatted() {
    local found
    found=$(cd repo && find . -type f -name '*.c' -size -8c | sort | tr '\n' ' ')
    [[ $found == "$*${*:+ }" ]] || complain "formatted: $found, expected: $*"
    fill
}
fill
# What an action does not know is refused before anything is touched or started.
expect 7 '' $'duplex finecode: a: action \'format\' does not take \'save\'\nhint: the members of its payload are files' -w repo run format save=no 'file_paths:=["a.c"]'
formatted
expect 7 '' "hint: did you mean files?" -w repo run format 'file:=["a.c"]'
expect 7 '"hint":"did you mean files?"' '' --json -w repo run format 'file:=["a.c"]'
expect 7 '' '' -w repo run lint -p b --payload '{"files": ["repo/b/x.c"], "all": true}'
expect 7 '' $'duplex finecode: files: expected a list\nhint: write them after --: duplex finecode run ACTION -- a.c' -w repo run format files=repo/a/x.c
formatted
# Files count from here, and go to their projects.
expect 0 'formatted: ' '1 project: 1 done' -w repo run format 'files:=["repo/a/x.c"]'
formatted ./a/x.c
(cd repo && expect 0 'formatted: ' '2 projects: 2 done' run format 'files:=["a/x.c", "./b/../b/inner/x.c"]'; exit "$failed") || failed=1
formatted ./a/x.c ./b/inner/x.c
(cd repo/a/src && expect 0 'formatted: ' '' -w ../.. run format 'files:=["y.c", "../x.c", "y.c"]'; exit "$failed") || failed=1
formatted ./a/src/y.c ./a/x.c
expect 0 '' '' -w repo run format "files:=[\"$work/repo/a/x.c\", \"file://$work/repo/b/x%2ec\"]"
formatted ./a/x.c ./b/x.c
ln -s repo/a/src short
expect 0 '' '' -w repo run format 'files:=["short/y.c"]'
formatted ./a/src/y.c
# Of one project they may also count from its folder.
expect 0 '' '' -w repo run format -p a 'files:=["src/y.c"]'
formatted ./a/src/y.c
# A folder means what is below it, as the whole project means its files; also the projects there.
expect 0 '' '1 project: 1 done' -w repo run format 'files:=["repo/a/src"]'
formatted ./a/src/deep/z.c ./a/src/y.c
expect 0 '' '' -w repo run format 'files:=["repo/a/"]'
formatted ./a/src/deep/z.c ./a/src/y.c ./a/x.c
expect 0 '' '' -w repo run format 'files:=["repo/a/node_modules", "repo/a/src/deep", "repo/a/x.c"]'
formatted ./a/node_modules/n.c ./a/src/deep/z.c ./a/x.c
expect 0 '' '2 projects: 2 done' -w repo run format 'files:=["repo/b"]'
formatted ./b/inner/x.c ./b/x.c
expect 0 '' '3 projects: 3 done' -w repo run format 'files:=["repo"]'
formatted ./a/src/deep/z.c ./a/src/y.c ./a/x.c ./b/inner/x.c ./b/x.c
# What is not there, or no project's, is refused before anything is touched.
expect 2 '' 'duplex finecode: cannot read repo/a/absent.c: No such file or directory' -w repo run format 'files:=["repo/a/x.c", "repo/a/absent.c"]'
expect 2 '' 'duplex finecode: cannot read a/x.c: No such file or directory' -w repo run format 'files:=["a/x.c"]'
expect 2 '' "duplex finecode: repo/plain/x.c is outside all projects in or below $work/repo" -w repo run format 'files:=["repo/plain/x.c"]'
expect 2 '' "duplex finecode: ../../../.././etc/passwd" -w repo run format 'files:=["../../../.././etc/passwd"]'
expect 2 '' "duplex finecode: repo/b/x.c belongs to b, where 'format' does not run" -w repo run format -p a 'files:=["repo/b/x.c"]'
expect 2 '' $'duplex finecode: files: the list is empty\nhint: leave \'files\' out to mean all files' -w repo run format 'files:=[]'
formatted
# A folder that cannot be read; root can read all of them.
mkdir -m 0 repo/a/secret
user=()
[[ $(id -u) != 0 ]] || user=(setpriv "--bounding-set=-dac_override,-dac_read_search")
if "${user[@]}" true 2>/dev/null; then
    printf '#!/bin/sh\nexec %s "$@"\n' "${user[*]} $finecode" >common
    chmod +x common
    finecode=$work/common expect 2 '' 'duplex finecode: cannot read repo/a/secret: Permission denied' -w repo run format -- repo/a/x.c repo/a/secret
    finecode=$work/common expect 2 '' 'duplex finecode: cannot read secret: Permission denied' -w repo/a run format -- repo/a/x.c secret
    formatted
fi
rmdir repo/a/secret
# A link to a file of the same project stands for it; one that leads out is left alone.
ln -s ../x.c repo/a/src/near.c
ln -s ../b/x.c repo/a/out.c
ln -s ../plain/x.c repo/a/plain.c
ln -s nowhere repo/a/broken.c
expect 0 'formatted: ' '' -w repo run format -- repo/a/src/near.c
formatted ./a/x.c
for name in out plain; do
    expect 2 '' "duplex finecode: repo/a/$name.c is a link that leads out of its project" -w repo run --project a format "files:=[\"repo/a/$name.c\"]"
    expect 0 '' '' -w repo run --ignore-unmatched format -- "repo/a/$name.c"
done
expect 2 '' 'duplex finecode: cannot read repo/a/broken.c: No such file or directory' -w repo run format -- repo/a/broken.c
formatted
expect 0 'formatted: ' '' -w repo run format -- repo/a
expect 0 '' '' -w repo run --project a format
rm repo/a/{src/near,out,plain,broken}.c
formatted ./a/src/deep/z.c ./a/src/y.c ./a/x.c
# The same after --, without JSON.
(cd repo && expect 0 'formatted: ' '2 projects: 2 done' run format -- a/src b/inner/x.c; exit "$failed") || failed=1
formatted ./a/src/deep/z.c ./a/src/y.c ./b/inner/x.c
printf 'int   a;\n' >$'repo/a/\xff.c'
expect 0 'formatted: ' '1 project: 1 done' -w repo run format -- $'repo/a/\xff.c'
[[ $(cat $'repo/a/\xff.c') == 'int a;' ]] || complain "a file whose name is not UTF-8 was not formatted"
rm $'repo/a/\xff.c'
expect 2 '' $'duplex finecode: missing files after --\nhint: leave -- out to mean all files' -w repo run format --
expect 2 '' 'duplex finecode: files are named in the payload and after --' -w repo run format 'files:=["repo/a/x.c"]' -- repo/b/x.c
expect 2 '' $'duplex finecode: unknown action \'repo/a\'\nhint: files come after --: duplex finecode run ACTION -- repo/a' -w repo run format repo/a
expect 2 '' "hint: files come after --: duplex finecode run ACTION -- repo/a/x.c" -w repo run format repo/a/x.c
expect 2 '' "unknown action 'repo/a/absent.c'" -w repo run format repo/a/absent.c
formatted
# A git hook names all files of a commit; some belong to no project, and some to one without the action.
expect 2 '' "repo/plain/x.c is outside all projects" -w repo run format -- repo/a/x.c repo/plain/x.c
expect 0 '' '1 project: 1 done' -w repo run --ignore-unmatched format -- repo/a/x.c repo/plain/x.c
formatted ./a/x.c
sed -i '/action.format/,$d' repo/b/finecode.toml
expect 2 '' "repo/b/x.c belongs to b, where 'format' does not run" -w repo run lint format -- repo/b/x.c
expect 1 'b: lint:' '1 project: 0 done, 1 with findings' -w repo run --ignore-unmatched lint format -- repo/b/x.c
expect 0 '' '0 projects: 0 done' -w repo run --ignore-unmatched format -- repo/b/x.c repo/plain
expect 0 '' '' -w repo run --json --ignore-unmatched format -- repo/plain/x.c
expect 2 '' 'cannot read repo/a/absent.c' -w repo run --ignore-unmatched format -- repo/a/absent.c
ready repo/b
formatted
# In a hook of a second worktree, git sets GIT_DIR: what it ignores is still ignored.
ready hooked/p
git init -q hooked
git -C hooked -c user.name=a -c user.email=a@b commit -q --allow-empty -m a
git -C hooked worktree add -q "$work/second"
ready second/p
mkdir second/p/made
echo made >second/.gitignore
printf 'int   a;\n' | tee second/p/x.c >second/p/made/x.c
GIT_DIR=$work/hooked/.git/worktrees/second expect 0 'formatted: second/p/x.c' '' -w second run format
[[ $(cat second/p/x.c second/p/made/x.c) == $'int a;\nint   a;' ]] || complain "what git ignores was formatted: $(cat out)"

# --- Dry runs ------------------------------------------------------------------------------------
mkdir dry
ready dry/a
ready dry/b
(
    cd dry || exit
    for name in 'a b.c' $'a\nb.c' -x.c "it's \"it\".c" $'\xff.c' 'ä🙂.c'; do printf 'int   a;\n' >"b/$name"; done
    printf 'int   a;' >b/open.c
    printf '\xef\xbb\xbfint   a;\n' >b/bom.c
    printf 'int   a;\r\n\r\n\r\n\r\nint   b;\r\n' >b/crlf.c
    printf '/* \xff */ int   a;\n' >b/latin.c
    printf '\n\n  ' >b/blank.c
    seq -f 'int   a%g;' 3000 >b/long.c
    { seq -f 'int a%g;' 100; echo 'int   x;'; seq -f 'int b%g;' 5; echo 'int   y;'; seq -f 'int c%g;' 9; echo 'int   z;'; } >b/hunks.c
    printf 'int a;\n' >b/fine.c
)
cp -a dry before
expect 1 $'--- a/b/hunks.c\n+++ b/b/hunks.c\n@@ -98,13 +98,13 @@' ' files would change' -w dry run --dry-run format
has err 'would format: '
lacks err 'formatted: '
lacks out 'would format: '
gone
diff -r before dry >differences || complain "a dry run has written: $(cat differences)"
cp -a dry patched
cp -a dry applied
mv out patch
expect 0 '' '' -w dry run format
(cd patched && patch -s -p1 --binary <"$work/patch") || complain "patch does not take it"
diff -r patched dry >differences || complain "patch makes something else of it: $(cat differences)"
(cd applied && git apply "$work/patch") || complain "git apply does not take it"
diff -r applied dry >differences || complain "git apply makes something else of it: $(cat differences)"
expect 0 '' '' -w dry run --dry-run format
[[ ! -s out ]] || complain "nothing changes, but: $(cat out)"
# What the first formatter changes, the second one sees; also for a script.
mkdir twice
cat >twice/finecode.toml <<'END'
[finecode.er]
runner = "duplex"
[finecode.action.format]
source = "duplex.Format"
handlers = [
    { name = "wide", source = "duplex.clang_format", env = "c", config = { args = ["--style={IndentWidth: 8}"] } },
    { name = "narrow", source = "duplex.clang_format", env = "d", config = { args = ["--style={ColumnLimit: 20}"] } },
    { name = "again", source = "duplex.clang_format", env = "c", config = { args = ["--style={IndentWidth: 3}"] } },
]
END
printf 'int f(void) { int first; int second; return first + second; }\n' >twice/x.c
cp twice/x.c once.c
expect 1 '--- a/x.c' '' -w twice run format --dry-run
mv out patch
cmp twice/x.c once.c || complain "a dry run has written"
expect 1 '' '' -w twice run format --dry-run --json
events '[one["diff"] for one in of("diff")] == [open("patch").read()] and of("diff")[0]["name"] == "twice" and all[-1]["event"] == "summary"'
expect 0 '' '' -w twice run format
patch -s once.c patch
cmp twice/x.c once.c || complain "the dry run has shown something else: $(diff twice/x.c once.c)"
# What may write files by itself is refused.
cat >twice/finecode-handlers.toml <<'END'
[[handler]]
source = "t.write"
command = ["sh", "-c", "echo >>x.c; echo '{}'"]
[[handler]]
source = "t.honest"
command = ["sh", "-c", "[ \"$FINECODE_DRY_RUN\" ] || echo >>x.c; echo '{}'"]
dry_run = true
END
sed -e 's/duplex.clang_format", env = "d"/t.write", env = "d"/' -i twice/finecode.toml
cp twice/x.c once.c
expect 8 '' '--dry-run: the command may write files; if it does not' -w twice run format --dry-run
cmp twice/x.c once.c || complain "a dry run has written"
sed -e 's/t.write/t.honest/' -i twice/finecode.toml
expect 0 '' '' -w twice run format --dry-run # one indents, the other takes it back
[[ ! -s out ]] || complain "nothing changes, but: $(cat out)"
printf 'int   a;\n' | tee twice/x.c >once.c
expect 1 '--- a/x.c' '' -w twice run format --dry-run
cmp twice/x.c once.c || complain "a dry run has written"
ready wrong 'args = ["-i"]'
cp dry/a/finecode.toml wrong/second.toml
rm wrong/first.c
expect 8 '' 'config: args: with --dry-run, the program must not write files' -w wrong run format --dry-run
project foreign/one <<<'format h a'
expect 2 '' $'--dry-run: one: the handler \'h\' of \'format\' may write files itself\nhint: only handlers of runner = "duplex" can be run dry' -w foreign run format --dry-run
[[ ! -s trace ]] || complain "a runner was started: $(cat trace)"
expect 2 '' '--dry-run applies only to run' -w dry list --dry-run

# A project with an action of its own would not be limited to the files that are named.
ready mixed/a
project mixed/b <<<'format h a'
file=$(cd mixed/a && find . -name '*.c' | head -n 1)
cp -r mixed mixed-before
: >trace
expect 2 '' "files: b has its own 'format', which would not be limited to them" -w mixed run format -- "mixed/a/$file"
diff -r mixed mixed-before || complain "files were touched"
[[ ! -s trace ]] || complain "b was run: $(cat trace)"
expect 0 '' '' -w mixed run format --project a -- "mixed/a/$file"

exit "$failed"

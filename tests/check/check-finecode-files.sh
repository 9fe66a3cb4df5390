#!/usr/bin/env bash
# duplex finecode and the files of real projects: odd ones, those that are named, and what is changed in them. clang-format
# alone says what is right.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1
for tool in clang-format cppcheck shellcheck; do
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
expect 1 '' "$work/wrong/first.c and 1 more: clang-format exited with code 1: " -w wrong run format
ready wrong
printf '#include "b\xff.h"\n#include "a.h"\n' >wrong/first.c
expect 1 '' "$work/wrong/first.c: clang-format replaces text that is not valid UTF-8; convert the file, or exclude it" -w wrong run format
truncate -s 65M wrong/first.c
expect 1 '' "cannot read $work/wrong/first.c: File too large" -w wrong run format
[[ $(cat wrong/second.c) == 'int   a;' ]] || complain "second.c was formatted"

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
    found=$(cd repo && find . -name '*.c' -size -8c | sort | tr '\n' ' ')
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
expect 7 '' $'duplex finecode: files: expected a list\nhint: write files:=\'["a.c"]\'' -w repo run format files=repo/a/x.c
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

exit "$failed"

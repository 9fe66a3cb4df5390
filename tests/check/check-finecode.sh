#!/usr/bin/env bash
# duplex finecode: usage, the tree, all runners. Runs and their results are the matter of check-finecode-run.sh, what goes
# wrong that of check-finecode-wrong.sh, signals and serving that of check-finecode-end.sh.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1

project two/core <<'END'
lint first a
lint second a code = 1
clean only a
END
project two/tools <<'END'
lint third b
END
mkdir two/plain
printf '[project]\nname = "plain"\n' >two/plain/pyproject.toml

# Usage.
expect 2 '' $'duplex finecode: missing subcommand: run, list, runners, serve or er\nhint: \'duplex finecode --help\' lists the subcommands'
expect 2 '' $'duplex finecode: unknown subcommand \'walk\'\nhint: \'duplex finecode --help\' lists the subcommands' walk
expect 2 '' $'duplex finecode: missing ACTION\nhint: \'duplex finecode list\' shows all actions' run
expect 2 '' "unknown option '--nothing'" --nothing list
expect 2 '' "list: unexpected argument 'more'" list more
expect 2 '' $'duplex finecode: list: unexpected --\nhint: only run takes files' list -- a
expect 2 '' '--stream applies only to run' list --stream
expect 2 '' '--resolve applies only to list' run lint --resolve
expect 2 '' '--port applies only to serve' run lint --port 1
expect 2 '' '--project applies only to run, list and runners' serve --project a
expect 2 '' '--port: expected 0 to 65535' serve --port 65536
expect 2 '' "--port: expected 0 to 65535, got '-'" serve --port -
expect 2 '' 'expected string|json' run lint --format xml
expect 2 '' 'expected duplex|venv' run lint --runner x
expect 2 '' 'expected seed|real' run lint --revision x
expect 2 '' 'expected ide|cli|ai|git_hook|ci' run lint --dev-env precommit
# 0 is a number like any other: it is refused, and not taken for the default.
expect 2 '' "duplex finecode: --jobs: expected a number of at least 1, got '0'" -w two run lint --jobs 0
expect 2 '' "duplex finecode: --fanout: expected a number of at least 1, got '0'" -w two run lint --fanout 0
for word in fanout jobs; do
    [[ $("$finecode" run --help-all | grep -A 2 -e "--$word N" | tr -s ' \n' ' ') == *'at least 1 ('* ]] || complain "the help of --$word"
done
expect 2 '' $'duplex finecode: er must come before all options\nhint: write: duplex finecode er start OPTION...' -w two er start
expect 2 '' 'absent' -w absent list
for word in lint.x lint=1 .x=1 lint.=1 lint.x=yes; do
    expect 2 '' '--set: expected ACTION.[HANDLER.]PARAM=JSON' -w two list --set $word
done
expect 2 '' "unknown action 'word'" -w two run lint word
expect 2 '' 'expected key=text or key:=json' -w two run lint a=1 word
expect 2 '' '--payload: expected a JSON object' -w two run lint --payload 1
expect 2 '' '--payload: expected a JSON object' -w two run lint --payload ' '
expect 2 '' '--payload must be a JSON object' -w two run lint --payload '[1]'
expect 2 '' 'the payload must be a JSON object' -w two run lint '[1]'
expect 2 '' 'is given twice' -w two run lint a=1 a=2
expect 2 '' "cannot read absent.json" -w two run lint --payload @absent.json
expect 2 '' "--project: no project below $work/two has the name or folder 'nobody'" -w two run lint --project nobody
expect 2 '' 'hint: did you mean core?' -w two run lint --project cor
expect 2 '' "$work/two/plain has no FineCode configuration" -w two run lint --project plain
expect 2 '' $'duplex finecode: unknown action \'lnit\'\nhint: did you mean lint?' -w two run lnit
expect 2 '"hint":"did you mean lint?"' '' -w two --json run lnit
expect 0 'Usage: duplex finecode run [OPTION...] ACTION' '' --help
[[ ! -s trace ]] || complain "a runner was started: $(cat trace)"
expect 2 '' "unknown action 't.clea'" -w two run t.clea
mkdir none
expect 0 '' "no project in or below $work/none" -w none list
expect 2 '' "no FineCode project in or below $work/none" -w none run lint

# The tree.
expect 0 'core  ' '' -w two list
has out "$work/two/core"
grep -q '^  lint  t.lint$' out || complain "$(cat out)"
grep -q '^    second  a  t.second$' out || complain "$(cat out)"
has out 'no FineCode configuration'
lacks out $'\x1b'
[[ ! -s trace ]] || complain "a runner was started"
expect 0 'canonical.lint' '' -w two list --resolve
gone
expect 0 '' '' -w two list --json --project core
events 'len(all) == 1 and all[0]["event"] == "project" and all[0]["name"] == "core" and all[0]["state"] == "valid"'
events '[one["name"] for one in all[0]["actions"]] == ["lint", "clean"] and "canonicalSource" not in all[0]["actions"][0]'
events 'all[0]["actions"][0]["handlers"][1] == {"name": "second", "source": "t.second", "env": "a"}'
expect 0 '' '' -w two list --json --resolve --project ./two/core
events '[one["canonicalSource"] for one in of("project")[0]["actions"]] == ["canonical.lint", "canonical.clean"]'
expect 0 $'\x1b[1mcore' '' -w two --color always list

# All runners.
expect 0 'RUNNING  core/a  ' '' -w two runners
has out 'RUNNING  tools/b  '
has out '/logs/core/a'
gone
expect 0 '' '' -w two --json runners -p tools
events 'len(all) == 1 and all[0]["state"] == "RUNNING" and all[0]["env"] == "b" and all[0]["pid"] > 1 and all[0]["log"] == "/logs/tools/b"'
project half/p <<'END'
x h1 a
x h2 broken
END
expect 3 'RUNNING  p/a  ' '1 of 2 runners failed to start' -w half runners
grep -q '^[A-Z]*  *p/broken .*' out || complain "$(cat out)"
lacks out 'RUNNING  p/broken'
gone
expect 3 '' '' -w half --json runners
events 'len(of("runner")) == 2 and all[-1]["error"]["exit"] == 3'
expect 0 '' 'has a runner' -w none runners
expect 0 'RUNNING  core/a  ' '' -w two --runner duplex runners -p core
[[ ! -s trace ]] || complain "--runner is not heeded: $(cat trace)"
expect 3 'NO_VENV  core/a  ' '' -w two --runner venv runners -p core
expect 3 '' 'failed    core: clean: ' -w two --runner venv run clean

# It is a runner, too; and can stand in a venv.
expect 0 'FineCode Extension Runner' '' er version
expect 0 'FineCode Extension Runner' '' -m finecode_extension_runner.cli version
mkdir -p two/core/.venvs/a/bin
ln -s "$finecode" two/core/.venvs/a/bin/python
expect 0 'RUNNING  core/a  ' '' -w two --runner venv runners -p core
exit "$failed"

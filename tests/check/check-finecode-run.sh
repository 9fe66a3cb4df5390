#!/usr/bin/env bash
# duplex finecode run: results, payloads, settings, several envs, parts, the order of projects.
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

# Runs: results on the standard output, all else on the standard error.
expect 0 'only' 'done      core: clean, ' -w two run clean
[[ $(cat out) == only ]] || complain "$(cat out)"
has err '1 project: 1 done, 0 with findings, 0 failed; '
lacks err $'\x1b'
gone
calls 'len(of("actions/run")) == 1 and of("actions/run")[0][2]["params"] == {}'
calls 'of("actions/run")[0][2]["options"]["resultFormats"] == ["string"]'
calls '{**of("actions/run")[0][2]["options"]["meta"], "orchestrationDepth": 0} == {"trigger": "user", "devEnv": "cli", "orchestrationDepth": 0}'
calls '[one[1] for one in all if "pid" not in one[1]][:2] == ["initialize", "initialized"] and all[-1][1] == "exit"'
expect 1 'first' 'findings  core: lint, return code 1, ' -w two run lint
has out $'core:\nfirst\nsecond'
has out $'tools:\nthird'
has err 'done      tools: lint, '
has err '2 projects: 1 done, 1 with findings, 0 failed; '
gone
expect 0 third '' -w two run lint --project tools
lacks out tools:
calls 'len(of("initialize")) == 1'
expect 1 '' '' -w two run lint -p tools -p two/core -p core
calls 'len(of("actions/run")) == 2'
(cd two/core && "$finecode" run clean >"$work/out" 2>"$work/err") || complain "$(cat err)"
has out only
expect 0 only '' -w two run t.clean

# Payloads, origins and settings reach the handlers.
printf '{"n": 7, "a": 1}' >p.json
expect 0 '' '' -w two run clean a=x 'b:=[1, 2.50]' --payload '{"a": 1, "c": {}}' --trigger system --dev-env ci --show
lacks err '"a":1'
calls 'of("handler")[0][2][1] == {"a": "x", "c": {}, "b": [1, 2.5]}'
calls '[of("actions/run")[0][2]["options"]["meta"][key] for key in ("trigger", "devEnv")] == ["system", "ci"]'
expect 0 '' '' -w two run clean --payload @p.json
calls 'of("handler")[0][2][1] == {"n": 7, "a": 1}'
expect 0 '' '' -w two run clean '{"q": 12345678901234567890}'
has trace 12345678901234567890
code=0
printf '{"i": true}' | timeout 20 "$finecode" -w two run clean --payload - >out 2>err || code=$?
((code == 0)) || complain "code $code: $(cat err)"
expect 1 '' '' -w two run clean --set clean.only.code=1
expect 0 '' '' -w two run lint -p core --set 'lint.second.code=0'
FINECODE_CONFIG_CLEAN__ONLY__CODE=1 expect 1 '' '' -w two run clean
# A setting that nothing takes changes nothing: it is a mistake.
expect 2 '' $'duplex finecode: --set: no project has an action \'claen\'\nhint: \'duplex finecode list\' shows all actions' -w two run clean --set claen.code=1
expect 2 '' "--set: action 'clean' has no handler 'onyl'" -w two run clean --set clean.onyl.code=1
expect 2 '' "--set: action 'clean' has no handler 'first'" -w two run clean --set clean.first.code=1
[[ ! -s trace ]] || complain "a runner was started: $(cat trace)"
expect 2 '' "--set: no project has an action 'clean'" -w two run lint --project tools --set clean.only.code=1
project preset/a <<<'lint h a'
mkdir preset/common
printf '[tool.finecode.action.lint]\nconfig = {}\n' >preset/common/preset.toml
sed -i '1s|^|[finecode]\npresets = [{source = "../common"}]\n|' preset/a/finecode.toml
expect 2 '' "--set: no project has an action 'nosuch'" -w preset run lint --set nosuch.h.code=1
expect 1 '' '' -w preset run lint --set lint.h.code=1

# Two projects of one name: lines and --project tell them apart by their folders.
project twins/x/core <<<'lint h a'
project twins/y/core <<<'lint h a code = 1'
project twins/other <<<'lint h a'
expect 1 'x/core:' 'done      x/core: lint, ' -w twins run lint
has out 'y/core:'
has out $'other:\n'
has err 'findings  y/core: lint'
expect 0 'x/core' '' -w twins list
expect 2 '' "--project: several projects are named 'core': $work/twins/x/core, $work/twins/y/core" -w twins run lint --project core
has err 'hint: write the folder instead of the name'
expect 0 '' '' -w twins run lint --project twins/x/core

# Forms of results.
expect 0 "{\"project\":\"$work/two/core\",\"result\":{\"ran\":[\"only\"],\"payload\":{}}}" '' -w two run clean --format json
expect 1 '' '' -w two --json run lint
events '{one["name"]: one["returnCode"] for one in of("project")} == {"core": 1, "tools": 0}'
events '[one["result"]["json"]["ran"] for one in of("project") if one["name"] == "core"] == [["first", "second"]]'
events 'all[-1]["event"] == "summary" and {**all[-1], "ms": 0} == {"event": "summary", "projects": 2, "done": 1, "found": 1, "failed": 0, "notRun": 0, "returnCode": 1, "exitCode": 1, "ms": 0}'
events '[one["state"] for one in of("step") if one["name"] == "tools"] == ["started", "done"] and of("step")[0]["handlers"]'
events '"RUNNING" in [one["state"] for one in of("runner")]'
expect 1 '' '' -w two --json --format string run lint
events '[one["result"] for one in of("project") if one["name"] == "tools"] == [{"string": "third"}]'
project odd/one <<'END'
styled s a styled = true
bad s a text = "a\u001b[31mb\r\n\u202ec"
empty s a text = ""
stop one a stop = true
stop two a
END
expect 0 $'plain red' '' -w odd run styled
expect 0 $'plain \x1b[1m\x1b[31mred\n\x1b[0m' '' -w odd --color always run styled
expect 0 $'a\\x1b[31mb\n\\u202ec' '' -w odd run bad
expect 0 '' 'done      one: empty' -w odd run empty
[[ ! -s out ]] || complain "$(cat out)"
expect 0 'one' 'stopped   one: stop' -w odd run stop
calls '[one[2][0] for one in of("handler")] == ["one"]'

# Several envs: segments, groups, one walRunId; by TCP, too.
project envs/one <<'END'
s h1 a
s h2 a
s h3 b
c c1 a
c c2 b code = 1
c c3 a
t one tcp
END
expect 0 $'h1\nh2\nh3' '' -w envs run s
calls '[[one[0], one[2]["handlerNames"], one[2]["options"].get("resultFormats") or []] for one in of("actions/runHandlers")] == [["one/a", ["h1", "h2"], []], ["one/b", ["h3"], ["string"]]]'
calls 'len({one[2]["options"]["walRunId"] for one in of("actions/runHandlers")}) == 1'
expect 1 '' '' -w envs --format json run c
calls 'sorted(one[2]["handlerNames"] for one in of("actions/runHandlers")) == [["c1", "c3"], ["c2"]] and len(of("actions/mergeResults")) == 1'
gone
expect 0 'one' 'done      one: t' -w envs run t
has trace 'one/tcp actions/run'
gone

# Parts as they come.
project parts/one <<'END'
p h a parts = 3
END
expect 0 $'h-2' '' -w parts run p --stream
for part in h-0 h-1 h-2; do [[ $(grep -c "$part" out) == 1 ]] || complain "$part: $(cat out)"; done
expect 0 '' '' -w parts --json run p --stream
events 'sum((one["result"]["json"]["ran"] for one in of("partial")), []) == ["h-0", "h-1", "h-2"] and "result" not in of("project")[0]'

# Several actions, one after the other, by the same runners.
expect 1 $'core: clean:\nonly\ncore: lint:\nfirst\nsecond\n' '2 projects: of 3 runs 2 done, 1 with findings, 0 failed; ' -w two run clean lint
has out $'tools: lint:\nthird'
calls '[one[2]["actionName"] for one in of("actions/run")][0] == "clean" and len(of("actions/run")) == 3 and len(of("initialize")) == 2'
gone
expect 1 '' '' -w two --json run clean lint -p core x=1
events '[(one["action"], one["returnCode"], one["result"]["json"]["payload"]) for one in of("project")] == [("clean", 0, {"x": "1"}), ("lint", 1, {"x": "1"})]'
events '{one["action"] for one in of("step")} == {"clean", "lint"} and [(one["projects"], one["done"], one["found"], one["exitCode"]) for one in of("summary")] == [(1, 1, 1, 1)]'
expect 1 '"action":"lint"' '' -w two --format json run clean lint
project worse/one <<'END'
good h a
broken h a fail = "it is broken"
finds h a code = 3
END
expect 8 $'good:\nh\n' '1 project: of 3 runs 1 done, 1 with findings, 1 failed; ' -w worse run good broken finds
has err '1 of 3 runs failed'
# None runs if one is unknown.
expect 2 '' $'unknown action \'lnit\'\nhint: did you mean lint?' -w two run clean lnit
[[ ! -s trace ]] || complain "a runner was started: $(cat trace)"

# One after the other, or side by side.
project slow/p1 <<<'l h1 a ms = 300'
project slow/p2 <<<'l h2 a ms = 300'
expect 0 '' '2 projects: 2 done' -w slow --one-by-one run l
calls '[one[0] for one in all if one[1] in ("handler", "ended")] == ["p1/a", "p1/a", "p2/a", "p2/a"]'
expect 0 '' '' -w slow --one-by-one run l -p p2 -p p1
calls '[one[2][0] for one in of("handler")] == ["h2", "h1"]'
expect 0 '' '' -w slow --jobs 1 run l

exit "$failed"

#!/usr/bin/env bash
# duplex finecode with 64 projects of two envs each, whose runners are duplex itself: an action ends once in each, only
# so many processes run at the same time, and nothing is left behind when the manager is killed.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1

cat >handlers.toml <<END
[[action]]
source = "t.all"
runs_concurrently = true
merge = {ran = "concat"}
[[handler]]
source = "t.mark"
command = ["sh", "-c", 'read -r _; echo "\$FINECODE_PROJECT_PATH \$FINECODE_ENV_NAME \$FINECODE_RUN_ID" >>$work/marks; echo "{\\"ran\\": [\\"\$FINECODE_ENV_NAME\\"]}"']
[[handler]]
source = "t.sleep"
command = ["sh", "-c", 'echo "\$\$ \$PPID" >>$work/pids; exec sleep 60']
END
cat >finecode.toml <<'END'
[finecode.er]
runner = "duplex"
[finecode.action.all]
source = "t.all"
handlers = [{name = "one", source = "t.mark", env = "a"}, {name = "two", source = "t.mark", env = "b"}]
[finecode.action.sleep]
source = "t.sleepers"
handlers = [{name = "one", source = "t.sleep", env = "a"}]
END
printf '[[action]]\nsource = "t.sleepers"\n' >>handlers.toml
for number in $(seq -w 64); do
    mkdir -p "many/p$number"
    cp finecode.toml "many/p$number/"
    cp handlers.toml "many/p$number/finecode-handlers.toml"
done

: >marks
expect 0 '' '' -w many --json run all
events 'len(of("project")) == 64 and len({one["project"] for one in of("project")}) == 64'
events 'not [one for one in of("project") if one["status"] != "success" or sorted(one["result"]["json"]["ran"]) != ["a", "b"]]'
events 'of("summary")[0]["done"] == 64'
[[ $(wc -l <marks) == 128 && $(sort -u marks | wc -l) == 128 ]] || complain "handlers ran $(wc -l <marks) times, $(sort -u marks | wc -l) different"
[[ $(cut -d' ' -f3 marks | sort -u | wc -l) == 1 ]] || complain "there is more than one run id: $(cut -d' ' -f3 marks | sort -u | wc -l)"

# 200 projects of four envs: never more than two handlers at a time, nor more runners than that besides those that are
# just leaving, and few descriptors. A handler says when it ran, and how many children the manager has: one of them is
# its guardian.
mkdir wide
cat >wide.toml <<END
[[action]]
source = "t.all"
merge = {ran = "concat"}
[[handler]]
source = "t.mark"
command = ["sh", "-c", 'begin=\$(date +%s%N); read -r _ _ _ manager _ <"/proc/\$PPID/stat"; read -r children <"/proc/\$manager/task/\$manager/children"; set -- \$children; echo "\$begin \$(date +%s%N) \$#" >>$work/marks; echo "{\"ran\": [\"\$FINECODE_ENV_NAME\"]}"']
END
cat >finecode-wide.toml <<'END'
[finecode.er]
runner = "duplex"
[finecode.action.all]
source = "t.all"
handlers = [{name = "1", source = "t.mark", env = "a"}, {name = "2", source = "t.mark", env = "b"}, {name = "3", source = "t.mark", env = "c"}, {name = "4", source = "t.mark", env = "d"}]
END
for number in $(seq -w 200); do
    mkdir -p "wide/p$number"
    cp finecode-wide.toml "wide/p$number/finecode.toml"
    cp wide.toml "wide/p$number/finecode-handlers.toml"
done
for jobs in 1 2; do
    : >marks
    (ulimit -n 64 && exec "$finecode" -w wide --json --jobs $jobs run all) </dev/null >out 2>err || complain "jobs $jobs: exit code $?: $(head -c 1000 err)"
    events 'len(of("project")) == 200 and not [one for one in of("project") if one["result"]["json"]["ran"] != ["a", "b", "c", "d"]]'
    python3 - marks "$jobs" <<'END' || failed=1
import sys
jobs = int(sys.argv[2])
rows = [[int(word) for word in line.split()] for line in open(sys.argv[1], encoding="ascii")]
edges = sorted([(begin, 1) for begin, _, _ in rows] + [(end, -1) for _, end, _ in rows])
now = most = 0
for _, step in edges:
    now += step
    most = max(most, now)
children = max(row[2] for row in rows)
if len(rows) != 800 or most > jobs or children > 2 * jobs + 1:
    sys.exit(f"jobs {jobs}: {len(rows)} handlers, {most} at a time, {children} runners")
END
done

: >pids
"$finecode" -w many --jobs 64 run sleep >out 2>err </dev/null &
host=$!
for ((i = 0; i < 200; i++)); do
    if (($(wc -l <pids) == 64)); then break; fi
    sleep 0.05
done
(($(wc -l <pids) == 64)) || complain "only $(wc -l <pids) handlers run: $(cat err)"
kill -KILL "$host"
wait "$host" 2>/dev/null || true
host=
# running: which of these processes still do.
running() {
    local pid
    for pid in $(tr '\n' ' ' <pids); do
        if grep -qs '^State:[[:space:]]*[A-WYa-z]' "/proc/$pid/status"; then echo "$pid"; fi
    done
}
for ((i = 0; i < 60; i++)); do
    [[ $(running) ]] || break
    sleep 0.05
done
[[ ! $(running) ]] || complain "left behind: $(running | wc -l)"
for pid in $(running); do kill -KILL "$pid"; done

# Several actions in one project, each in an env of its own: the runners of those before make room.
mkdir several
{
    printf '[finecode.er]\nrunner = "duplex"\n'
    for env in a b c d; do printf '[finecode.action.%s]\nsource = "t.%s"\nhandlers = [{name = "h", source = "t.h", env = "%s"}]\n' $env $env $env; done
} >several/finecode.toml
{
    for env in a b c d; do printf '[[action]]\nsource = "t.%s"\n' $env; done
    printf '[[handler]]\nsource = "t.h"\ncommand = ["echo", "{}"]\n'
} >several/finecode-handlers.toml
for jobs in 1 2 3; do expect 0 '' '4 done' -w several --jobs $jobs run a b c d; done

# Results as long as a message: 64 MiB, and half of that behind the last of several envs, where it stands twice.
mkdir long
cat >long/finecode.toml <<'END'
[finecode.er]
runner = "duplex"
[finecode.action.one]
source = "t.one"
handlers = [{name = "long", source = "t.long", env = "a"}]
[finecode.action.two]
source = "t.two"
handlers = [{name = "long", source = "t.long", env = "a"}, {name = "short", source = "t.short", env = "b"}]
END
cat >long/finecode-handlers.toml <<'END'
[[action]]
source = "t.one"
[[action]]
source = "t.two"
[[handler]]
source = "t.long"
output_max = "1G"
command = ["sh", "-c", 'cat >&2; printf "{\"x\":\""; head -c "$LONG" /dev/zero | tr "\0" a; echo "\"}"']
[[handler]]
source = "t.short"
command = ["sh", "-c", 'cat >&2; echo "{\"y\":1}"']
END
# long ACTION BYTES
long() {
    local code=0
    LONG=$2 timeout 100 "$finecode" -w long run "$1" --format json </dev/null >out 2>err || code=$?
    echo "$code"
}
[[ $(long one 67000000) == 0 && $(wc -c <out) -gt 67000000 ]] || complain "67 MB: $(cat err)"
[[ $(long one 67200000) == 8 && $(cat err) == *'The result is too long: a message holds 64 MiB'* ]] || complain "67.2 MB: $(cat err)"
[[ $(long two 33000000) == 0 && $(wc -c <out) -gt 33000000 ]] || complain "33 MB in two envs: $(cat err)"
[[ $(long two 34000000) == 8 && $(cat err) == *'a message holds 64 MiB'* ]] || complain "34 MB in two envs: $(cat err)"
exit "$failed"

#!/usr/bin/env bash
# What takes its time in a run: a peer that no longer answers, and as many peers as there may be.
# shellcheck source=/dev/null disable=SC2154 # it sets work, duplex, run and failed
. "$SOURCE/tests/check/run-common.bash"

# wait_for COUNT PATTERN: that many lines, at most 60 s.
wait_for() {
    for _ in $(seq 600); do
        (($(grep -c -- "$2" err) >= $1)) && return
        sleep 0.1
    done
    complain "'$2' did not come: $(cat err)"
}
# begin CONFIG, end.
begin() {
    : >err
    timeout 120 "$duplex" run --config "$1" --socket s 2>err </dev/null &
    run=$!
}
end() {
    timeout 20 "$duplex" down --socket s || complain "down: $?"
    wait "$run" || complain "the run ended with $?"
    run=
}

# It is degraded after a ping without an answer, and started anew after three.
echo "{\"duplex\": 1, \"peers\": {\"mute\": {\"command\": [\"$BUILD/tests/children/silent\"], \"ping\": \"hello\", \"pingMs\": 100}}}" >ping.json
begin ping.json
wait_for 1 '^mute: degraded: no response within 10 s'
[[ $(timeout 10 "$duplex" ps --socket s) == *degraded* ]] || complain "not degraded"
wait_for 1 '^mute: backoff, restarting in 100 ms: no response within 10 s'
wait_for 2 '^mute: ready'
end

# 256 peers, where descriptors are few.
ulimit -Sn 256
{
    printf '{"duplex": 1, "peers": {'
    for i in $(seq 256); do printf '"p%d": {"command": ["%s", "line"]},' "$i" "$BUILD/examples/echo"; done
    printf '}}'
} >many.json
begin many.json
wait_for 256 ': ready'
[[ $(timeout 20 "$duplex" ps --socket s | grep -c ' ready ') == 256 ]] || complain "ps"
[[ $(timeout 20 "$duplex" call --socket s --in p256 echo '[256]') == '[256]' ]] || complain "p256"
end
! grep -q failed err || complain "$(grep failed err)"
exit "$failed"

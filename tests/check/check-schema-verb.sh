#!/usr/bin/env bash
# duplex schema: what it says, where it says it, and its exit codes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >pet.json <<'END'
{"$schema": "https://json-schema.org/draft/2020-12/schema",
 "type": "object", "required": ["name"],
 "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "home": {"$ref": "place.json"}},
 "$defs": {"Age": {"type": "integer", "minimum": 0}}}
END
echo '{"type": "string", "format": "uri"}' >place.json
echo '{"name": "Rex", "age": 3}' >good.json
echo '{"name": 7, "age": "old"}' >bad.json
printf '{"name":\n "Rex",}' >broken.json

failed=0
# expect CODE STDOUT STDERR ARGUMENT...: the output is compared whole, errors by a part of them.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    "$BUILD/duplex" schema "$@" >out 2>err </dev/null || got=$?
    if ((got != code)) || [[ $(cat out) != "$out" ]] || [[ $(cat err) != *"$err"* ]] || { [[ -z $err && -s err ]]; }; then
        echo "duplex schema $*: code $got, expected $code"
        echo "stdout: $(cat out)"
        echo "stderr: $(cat err)"
        failed=1
    fi
}

expect 0 '' '' --with place.json pet.json
expect 0 '' '' --with place.json pet.json good.json
expect 7 'bad.json: /name: expected string, found number' '' --with place.json pet.json bad.json good.json
expect 7 'bad.json: /name: expected string, found number
bad.json: /age: expected integer, found string' '' --all --with place.json pet.json bad.json
expect 7 '{"file":"bad.json","instance":"/name","schema":"#/properties/name/type","keyword":"type","phrase":"/name: expected string, found number"}' \
    '' --json --with place.json pet.json bad.json
echo '-1' >number.json
# shellcheck disable=SC2016
expect 7 'number.json: expected at least 0, found -1' '' --at '#/$defs/Age' --with place.json pet.json number.json
echo '"no uri"' >text.json
expect 0 '' '' place.json text.json
expect 7 'text.json: expected the format uri, found "no uri"' '' --format place.json text.json
expect 7 '' 'broken.json:2:7: invalid JSON: trailing comma' place.json broken.json
expect 2 '' 'cannot read absent.json: No such file or directory' place.json absent.json
expect 2 '' $'duplex schema: missing SCHEMA file\nhint: duplex schema SCHEMA FILE...'
expect 2 '' "unknown option '--nothing'" --nothing
# What a schema refers to must have been given: nothing is fetched.
"$BUILD/duplex" schema pet.json >out 2>err </dev/null && failed=1
grep -q 'place.json' out || { cat out err; failed=1; }
echo '{"name": "Rex"}' | "$BUILD/duplex" schema --with place.json pet.json - || failed=1
"$BUILD/duplex" schema --help | grep -q '^Usage: duplex schema' || failed=1
exit $failed

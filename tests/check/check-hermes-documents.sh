#!/usr/bin/env bash
# duplex hermes host and its own documents: what it writes, it reads again, large ones, too. And what can be undone.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"

# --- A message of 6 MB, whose lines end with CR, through each format. ---------------------------
python3 - <<'END'
line = "OBX|%d|NM|GLU^Glucose^L||1.50|mmol/L|3.9-6.1|N|||F|||20310102||LAB^Å&B^é~\r"
open("large.hl7", "w", newline="").write("MSH|^~\\&|LAB\r" + "".join(line % i for i in range(1, 80001)))
END
for format in json yaml toml; do
    expect 0 '' '' --write "large.$format" large.hl7
    expect 0 '' '' --write "$format.hl7" "large.$format"
    cmp -s "$format.hl7" large.hl7 || complain "$format is another message"
done

# --- Numbers of a document are text. ------------------------------------------------------------
printf '[[segments]]\nsegment = "MSH"\nfields = {3 = 1.50, 4 = 12345678901234567890123}\n' >number.toml
printf '{"segments": [{"segment": "MSH", "fields": {"3": 1.50, "4": 12345678901234567890123}}]}' >number.json
printf 'segments:\n- segment: MSH\n  fields: {3: 1.50, 4: 12345678901234567890123, 5: "\\ud83d\\ude00"}\n' >number.yaml
for format in json yaml toml; do
    expect 0 'MSH|^~\&|1.50|12345678901234567890123' '' --write - "number.$format"
done
expect 0 '|😀' '' --write - number.yaml

# --- Older edits are dropped, which undo says. --------------------------------------------------
{
    for ((i = 0; i < 1003; i++)); do echo "set PID.5.1 N$i"; done
    for ((i = 0; i < 1000; i++)); do echo undo; done
    echo get PID.5.1
} >in
expect 0 'N2' '' a.hl7
echo undo >>in
expect 1 'N2' 'undo: nothing left to undo: 3 older edits were not kept (the limits are 1000 edits and 256 MiB)' a.hl7
lines 'set PID.5.1 x' undo undo
expect 1 '' 'undo: nothing to undo' a.hl7

exit "$failed"

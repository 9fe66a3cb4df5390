#!/usr/bin/env bash
# duplex hermes: files as they come. Latin-1 and other encodings, batches, MLLP, several messages: what no edit
# touches stays byte for byte, and what cannot be written is refused.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"

# make FILE PYTHON: its bytes; msh(CHARSET) is a first segment.
make() {
    python3 -c 'import sys
msh = lambda charset: "MSH|^~\\&|LAB|H|EHR|H|20240102||ORU^R01|7|P|2.5||||||" + charset + "\r"
open(sys.argv[1], "wb").write(eval(sys.argv[2]))' "$1" "$2"
}
# differs OLD NEW FROM TO: NEW is OLD with that one text (Python, bytes) replaced.
differs() {
    python3 -c 'import sys
old, new = (open(name, "rb").read() for name in sys.argv[1:3])
sys.exit(new != old.replace(eval(sys.argv[3]), eval(sys.argv[4]), 1) or new == old)' "$@" || complain "$2 is not $1 with $4 for $3"
}

# --- Encodings. --------------------------------------------------------------------------------
make oru.hl7 '(msh("8859/1") + "PID|1||5||Müller^Jürg\rOBR|1\rOBX|1|ED|x||^PDF^Base64^^").encode("latin1") + b"\xe4QUJD" * 1048576 + "\rOBX|2|TX|y||Größe\rZ\xff|ÿ\r".encode("latin1")'
lines 'get PID.5' 'set PID.5.2 "Jörg \\.br\\ ß"' 'get PID.5.2' 'get OBX[2].5' 'set OBX[2].5 "5 €"' 'save new.hl7'
expect 1 $'Müller^Jürg\nJörg \\.br\\ ß\nGröße' "set: U+20AC '€' cannot be written in 8859/1 (MSH.18)" oru.hl7
differs oru.hl7 new.hl7 '"Jürg".encode("latin1")' '"Jörg \\.br\\ ß".encode("latin1")'
lines 'set PID.5 x' undo 'save same.hl7' 'save same.json' 'open same.json' 'save back.hl7'
expect 0 '' '' oru.hl7
same same.hl7 oru.hl7
python3 -c 'a, b = (open(name, "rb").read().rstrip(b"\r") for name in ("back.hl7", "oru.hl7")); assert a == b' || complain "another message comes back from JSON"
python3 -c 'import json; assert json.load(open("same.json"))["segments"][1]["fields"]["5"]["2"] == "Jürg"' || complain "the JSON is not UTF-8"

# Extensions see UTF-8, and are told what cannot be written.
make l1.hl7 '(msh("8859/1") + "PID|1||5||Müller^Jürg\r").encode("latin1")'
expect 0 '' 'read "PID|1||5||M\u00fcller^J\u00fcrg"' -x "$extension" --run cmd/encode --write e.hl7 l1.hl7
has err 'json "M\u00fcller"'
has err 'wrote {"patchesApplied": 1, "success": true}'
has err "patch {\"errors\": [{\"index\": 0, \"message\": \"U+20AC '\\u20ac' cannot be written in 8859/1 (MSH.18)\", \"path\": \"PID.5.2\"}], \"patchesApplied\": 0, \"success\": false}"
has err "set {\"error\": \"U+20AC '\\u20ac' cannot be written in 8859/1 (MSH.18)\", \"success\": false}"
(($(grep -c 'Cmd: set {"error": "U+20AC' err) == 2)) || complain "not both formats are refused: $(cat err)"
differs l1.hl7 e.hl7 '"Müller".encode("latin1")' '"Größe".encode("latin1")'
expect 0 '' '' -x "$extension" --run cmd/encode l1.hl7
same out e.hl7
expect 0 '' '' --json -x "$extension" --run cmd/encode l1.hl7
events '"Größe^Jürg" in result("write")["text"]'
# exact edits as the real editor does, but writes nothing that is neither the one nor the other.
expect 7 '' "cannot write the message as hl7: U+20AC '€' cannot be written in 8859/1 (MSH.18)" --revision exact -x "$extension" --run cmd/encode --write x.hl7 l1.hl7
[[ ! -e x.hl7 ]] || complain "half a message is written"

# What does not say how it is encoded, or says something else than it is.
make no.hl7 '(msh("") + "PID|1||5||Müller\r").encode("latin1")'
make u8.hl7 '(msh("") + "PID|1||5||Müller\r").encode()'
make ascii.hl7 '(msh("ASCII") + "PID|1||5||Müller\r").encode("latin1")'
make lie.hl7 '(msh("UNICODE UTF-8") + "PID|1||5||Müller\r").encode("latin1")'
: >in
expect 2 '' 'cannot read no.hl7: byte 0xFC at offset 64 is not valid UTF-8, and MSH.18 does not say what it is
hint: pass --encoding NAME' no.hl7
expect 2 '' 'byte 0xFC at offset 69 is not valid ASCII, which MSH.18 says it is' ascii.hl7
expect 2 '' 'is not valid UTF-8, which MSH.18 says it is' lie.hl7
lines 'open no.hl7' 'get PID.5' 'open lie.hl7'
expect 1 'Müller' 'open: cannot open no.hl7: byte 0xFC at offset 64 is not valid UTF-8, and MSH.18 does not say what it is; --encoding of duplex hermes host' u8.hl7
lines 'get PID.5' 'set PID.5 5€' save 'open lie.hl7' 'get PID.5'
cp no.hl7 euro.hl7
expect 0 $'Müller\nMüller' '' --encoding windows-1252 euro.hl7
differs no.hl7 euro.hl7 '"Müller".encode("latin1")' 'b"5\x80"'
lines 'set PID.5 €' 'set MSH.18 8859/1' 'set MSH.18 Klingon' 'set MSH.18 8859/15' 'save e15.hl7' 'open e15.hl7' 'get PID.5'
expect 1 '€' "set: U+20AC '€' cannot be written in 8859/1 (MSH.18)
set: unknown character set in MSH.18: Klingon" u8.hl7
make e15.want '(msh("8859/15") + "PID|1||5||€\r").encode("iso-8859-15")'
same e15.hl7 e15.want
expect 2 '' "--encoding: unknown encoding 'Klingon'" --encoding Klingon u8.hl7
printf 'set PID.5 a\xfc\n' >in
expect 1 '' 'set: the text is not valid UTF-8' u8.hl7
make u16.hl7 '(msh("UNICODE UTF-16") + "PID|1||5||Müller\r").encode("utf-16")'
lines 'get PID.5' 'set PID.5 😀' 'save u16.new'
expect 0 'Müller' '' u16.hl7
differs u16.hl7 u16.new '"Müller".encode("utf-16-le")' '"😀".encode("utf-16-le")'
# A message that an extension makes is written as it says.
lines 'run cmd/latin' wait 'set MSH.18 8859/1' 'save made.hl7' new 'open made.hl7' 'get PID.5'
expect 0 'Müller^Jörg' '' -x "$extension"
LC_ALL=C grep -qaF $'M\xfcller^J\xf6rg' made.hl7 || complain "a new message is not written as MSH.18 says"

# --- Several messages, batches, frames. --------------------------------------------------------
make batch.hl7 'b"\r\n\x0bFHS|^~\\&|F\rBHS|^~\\&|B\r" + (msh("8859/1") + "PID|1||5||Müller\r").encode("latin1") + b"\r\n" + (msh("UNICODE UTF-8") + "PID|2||5||Zoë\r").encode() + b"MSH#*!?@#C\r\nPID#3##a*b\r\nBTS|3\xff\rFTS|1\r\x1c\r"'
lines 'get PID.5' 'set PID.5 Öl' save
cp batch.hl7 b1.hl7
expect 0 'Müller' 'b1.hl7 has 3 messages; the first one is open, --message N chooses another' b1.hl7
differs batch.hl7 b1.hl7 '"Müller".encode("latin1")' '"Öl".encode("latin1")'
lines 'get PID.5' 'set PID.5 €' 'set OBX[2].5 x' 'create OBX' 'set OBX.5 "o|o"' 'save b2.hl7'
expect 1 'Zoë' 'set: Segment OBX not found' --message 2 batch.hl7
lacks err 'has 3 messages'
differs batch.hl7 b2.hl7 '"PID|2||5||Zoë\r".encode()' '"PID|2||5||€\rOBX|||||o\\F\\o\r".encode()'
lines 'get PID.3.2' 'set PID.3.2 "x*y|z"'
expect 0 b '' --message 3 --write b3.hl7 batch.hl7
differs batch.hl7 b3.hl7 'b"a*b"' 'b"a*x?S?y|z"'
: >in
expect 2 '' 'cannot read batch.hl7: there is no message 4: the file has 3' --message 4 batch.hl7
expect 2 '' '--message: expected a number from 1' --message 0 batch.hl7
expect 2 '' '--message: missing MESSAGE' --message 1
lines 'open batch.hl7 3' 'get PID.3.1' 'open batch.hl7 4' 'get PID.3.1' 'open batch.hl7 0' 'open batch.hl7' 'get PID.1'
expect 1 $'a\na\n1' 'open: cannot open batch.hl7: there is no message 4: the file has 3
open: expected the number of a message, from 1' u8.hl7
has err "batch.hl7 has 3 messages; the first one is open, 'open FILE N' chooses another"
# A message that an undo brings back is still part of its file, and so is one of which it takes edits back.
lines 'set PID.5 Öl' 'open --discard l1.hl7' 'set PID.5 é' undo undo 'get PID.5' 'save back1.hl7' 'open --discard l1.hl7' 'get PID.5'
expect 0 $'back to '"$work/batch.hl7"$'\nÖl\nMüller^Jürg' '' batch.hl7
same back1.hl7 b1.hl7
lines 'set MSH.18 "UNICODE UTF-8"' 'set PID.5 €' 'set MSH.18 8859/1' undo 'set PID.5 Öl' 'set MSH.18 ASCII' 'set MSH.18 8859/1' 'set PID.5 €' 'save back2.hl7'
expect 1 '' "set: U+20AC '€' cannot be written in 8859/1 (MSH.18)
set: U+00D6 'Ö' cannot be written in ASCII (MSH.18)
set: U+20AC '€' cannot be written in 8859/1 (MSH.18)" batch.hl7
same back2.hl7 b1.hl7
# From standard input to standard output, with an extension.
cp batch.hl7 in
expect 0 '' '' -x "$extension" --message 2 --run cmd/upper -
differs batch.hl7 out '"Zoë".encode()' '"ZOË".encode()'
expect 0 '' '- has 3 messages; the first one is open' --json -x "$extension" --run cmd/levels -
events 'result("write")["text"].endswith("PID|1||5||Müller\r\r\n")'
# Leading blank lines, a byte order mark, a frame without batch; and text that is none of that.
make odd.hl7 'b"\xef\xbb\xbf\r\n  \r\n\x0b" + (msh("") + "PID|1||5||Müller\r").encode() + b"\x1c\r"'
lines 'get PID.5' 'set PID.5.1 x' save
cp odd.hl7 odd.new
expect 0 Müller '' odd.new
[[ ! -s err ]] || complain "something is told: $(cat err)"
make odd.new2 '(mark := b"\xef\xbb\xbf\r\n  \r\n\x0b") + msh("").encode() + b"PID|1||5||x\r\x1c\r"'
lines 'get PID.5' 'set PID.5 x' 'save odd.new'
expect 0 Müller '' odd.hl7
same odd.new odd.new2
# What could not be read again as the same message is not written.
make mllp.hl7 'b"\x0b" + (msh("8859/1") + "PID|1||5||Müller\rNTE|1\r").encode("latin1") + b"\x1c\r"'
printf 'set NTE.1 "x\x1c"\nsave cut.hl7\nset NTE.1 x\ncreate BTS\nset BTS.1 5\nsave cut.hl7\n' >in
expect 1 '' 'save: cannot write cut.hl7: a line of the message begins a batch or another message, or a byte 0x1C ends it: it could not be read again
save: cannot write cut.hl7: a line' mllp.hl7
[[ ! -e cut.hl7 ]] || complain "a message that is cut off is written"
# A document with segments as keys has no order.
python3 -c 'import json; print(json.dumps({"MSH": {"3": "A"}, "OBR": [{"4": "GLU"}, {"4": "NA"}], "OBX": [{"3": "GLU"}, {"3": "NA"}]}))' >keys.json
expect 2 '' 'segments as keys have no order' keys.json
lines 'open keys.json'
expect 1 '' 'open: cannot open keys.json: segments as keys have no order' u8.hl7
make mail.hl7 'b"From: me\n\n" + msh("").encode() + b"PID|1\n"'
lines 'get PID.1' 'set PID.1 2' 'save mail.new'
expect 0 1 'warning: mail.hl7: the text before the first message is not HL7; it is kept' mail.hl7
differs mail.hl7 mail.new 'b"PID|1"' 'b"PID|2"'
exit "$failed"

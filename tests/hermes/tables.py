"""Patches of a message and what they make of it, for rows.py: as it should be, and as Hermes 0.1.0
does it. A row: its name, the text before, the list of patches, the text after, and the errors as
(index, message). Numbers are those of the defects that are known."""

H = "MSH|^~\\&|APP"


def value(path, text):
    return {"path": path, "value": text}


def create(path):
    return {"path": path, "create": True}


def remove(path):
    return {"path": path, "remove": True}


def bad(path, at):
    return "Invalid path '%s': Query parsing failed at position %d: `%s`" % (path, at, path[at:])


def no_field(path):
    return "Path '%s' must specify a field number for set/remove operations" % path


def missing(name):
    return "Segment %s not found" % name


SEPARATORS = "Cannot set MSH.1 or MSH.2, the separators"
NO_MSH = "Cannot remove MSH segment"

# The same in both.
ALIKE = [
    ("no patch", H + "\rPID|1", [], H + "\rPID|1", []),
    ("a field", H + "\rPID|1||3", [value("PID.3", "x")], H + "\rPID|1||x", []),
    ("hyphens and blanks", H + "\rPID|1|a^b", [value("PID-2 2", "x")], H + "\rPID|1|a^x", []),
    ("a field that is to be added", H + "\rPID|1", [value("PID.4", "x")], H + "\rPID|1|||x", []),
    ("an absent value clears", H + "\rPID|1|2|3", [{"path": "PID.1"}], H + "\rPID||2|3", []),
    ("null clears", H + "\rPID|1|2|3", [value("PID.2", None)], H + "\rPID|1||3", []),
    ("a component", H + "\rPID|a^b^c", [value("PID.1.2", "x")], H + "\rPID|a^x^c", []),
    ("a component of a repetition", H + "\rPID|A^1~B^2", [value("PID.1[2].1", "x")], H + "\rPID|A^1~x^2", []),
    ("an occurrence", H + "\rOBX|1\rOBX|2", [value("OBX[2].1", "x")], H + "\rOBX|1\rOBX|x", []),
    (
        "create and remove beside a field",
        H + "\rPID|1",
        [{"path": "PID.1", "value": "x", "create": True, "remove": True}],
        H + "\rPID|x",
        [],
    ),
    ("MSH is not removed", H + "\rPID|1", [remove("MSH")], H + "\rPID|1", [(0, NO_MSH)]),
    ("removing what is not there", H + "\rPID|1", [remove("NK1")], H + "\rPID|1", []),
    ("no field", H + "\rPID|1", [value("PID", "x")], H + "\rPID|1", [(0, no_field("PID"))]),
    ("no such segment", H + "\rPID|1", [value("OBX[3].5", "x")], H + "\rPID|1", [(0, missing("OBX"))]),
    ("a bad path", H + "\rPID|1", [value("PI.5", "x")], H + "\rPID|1", [(0, bad("PI.5", 0))]),
    ("case is kept", H + "\rPID|1\rpid|2", [value("pid.1", "x")], H + "\rPID|1\rpid|x", []),
    (
        "one that fails does not stop the rest",
        H + "\rPID|1",
        [value("ZZZ.1", "x"), value("PID.1", "2"), value("?", "x"), value("PID.2", "3")],
        H + "\rPID|2|3",
        [(0, missing("ZZZ")), (2, bad("?", 0))],
    ),
]

FIXED = ALIKE + [
    ("1: the one that is named goes", H + "\rOBX|1\rOBX|2\rOBX|3", [remove("OBX[2]")], H + "\rOBX|1\rOBX|3", []),
    ("1: one that is not there stays away", H + "\rOBX|1", [remove("OBX[9]")], H + "\rOBX|1", []),
    (
        "2: create, then set",
        H + "\rPID|1",
        [create("NK1"), value("NK1.2", "DOE"), value("PID.1", "2")],
        H + "\rPID|2\rNK1||DOE",
        [],
    ),
    ("2: create with fillers", H + "\rOBX|1\rNTE|1", [create("OBX[3]")], H + "\rOBX|1\rOBX|\rOBX|\rNTE|1", []),
    ("2: a bare segment can be set", H + "\rNK1\rPID|1", [value("NK1.1", "x")], H + "\rNK1|x\rPID|1", []),
    ("3: one repetition", H + "\rPID|||A~B~C", [value("PID.3[2]", "x")], H + "\rPID|||A~x~C", []),
    ("4: a plain field stays", H + "\rPID|||12345", [value("PID.3.4", "MRN")], H + "\rPID|||12345^^^MRN", []),
    ("4: and the first subcomponent", H + "\rPID|||||DOE", [value("PID.5.1.2", "SUB")], H + "\rPID|||||DOE&SUB", []),
    ("5: escapes stay", H + "\rPID|A\\T\\B|1", [value("PID.2", "x")], H + "\rPID|A\\T\\B|x", []),
    ("6: MSH.1", H, [value("MSH.1", "#")], H, [(0, SEPARATORS)]),
    ("6: MSH.2", H, [value("MSH.2", "#")], H, [(0, "Cannot set MSH.2: a separator that the message has cannot change")]),
    ("6: MSH alone", "MSH|^~\\&\rPID|1", [value("PID.1", "2")], "MSH|^~\\&\rPID|2", []),
    ("7: other lines stay", H + "\rPID|1\rnone\rOBX|1", [value("PID.1", "x")], H + "\rPID|x\rnone\rOBX|1", []),
    ("line ends stay", H + "\r\nPID|1\nOBX|1\r\n", [value("PID.1", "x")], H + "\r\nPID|x\nOBX|1\r\n", []),
    ("a rest of a path", H + "\rPID|1", [value("PID.5.1xyz", "x")], H + "\rPID|1", [(0, bad("PID.5.1xyz", 7))]),
    ("component 0", H + "\rPID|1", [value("PID.5.0", "x")], H + "\rPID|1", [(0, bad("PID.5.0", 5))]),
    ("four letters", H + "\rPID|1", [value("PIDX.5", "x")], H + "\rPID|1", [(0, bad("PIDX.5", 3))]),
    ("field 0", H + "\rPID|1", [value("PID.0", "x")], H + "\rPID|1", [(0, bad("PID.0", 3))]),
    ("occurrence 0", H + "\rOBX|1", [value("OBX[0].5", "x")], H + "\rOBX|1", [(0, bad("OBX[0].5", 3))]),
    ("a field beyond all", H + "\rPID|1", [value("PID.1000000", "x")], H + "\rPID|1", [(0, bad("PID.1000000", 3))]),
]

EXACT = ALIKE + [
    ("1: the first goes", H + "\rOBX|1\rOBX|2\rOBX|3", [remove("OBX[2]")], H + "\rOBX|2\rOBX|3", []),
    ("1: also for one that is not there", H + "\rOBX|1\rOBX|2", [remove("OBX[9]")], H + "\rOBX|2", []),
    (
        "2: create, then set",
        H + "\rPID|1",
        [create("NK1"), value("NK1.2", "DOE"), value("PID.1", "2")],
        H + "\rPID|2",
        [(1, missing("NK1"))],
    ),
    ("2: a bare segment", H + "\rPID|1", [create("NK1")], H + "\rPID|1\rNK1", []),
    ("2: hides the rest", H + "\rNK1\rPID|1", [value("PID.1", "x")], H + "\rNK1\rPID|1", [(0, missing("PID"))]),
    ("2: which the next patch drops", H + "\rPV1|1\rNK1\rPID|1", [value("PV1.1", "x")], H + "\rPV1|x", []),
    ("2: create with fillers", H + "\rOBX|1\rNTE|1", [create("OBX[3]")], H + "\rOBX|1\rOBX\rOBX\rNTE|1", []),
    ("3: all repetitions", H + "\rPID|||A~B~C", [value("PID.3[2]", "x")], H + "\rPID|||x", []),
    ("4: a plain field is lost", H + "\rPID|||12345", [value("PID.3.4", "MRN")], H + "\rPID|||^^^MRN", []),
    ("4: also for a subcomponent", H + "\rPID|||||DOE", [value("PID.5.1.2", "SUB")], H + "\rPID|||||&SUB", []),
    ("5: escapes twice", H + "\rPID|A\\T\\B|1", [value("PID.2", "x")], H + "\rPID|A\\E\\T\\E\\B|x", []),
    ("6: MSH.1", H, [value("MSH.1", "#")], H, []),
    ("6: MSH.2", H, [value("MSH.2", "#")], H, []),
    ("6: MSH alone", "MSH|^~\\&\rPID|1", [value("PID.1", "2")], "MSH|^~\\&|\rPID|2", []),
    ("7: they go, and the rest", H + "\rPID|1\rnone\rOBX|1", [value("PID.1", "x")], H + "\rPID|x", []),
    ("line ends become CR", H + "\r\nPID|1\nOBX|1\r\n", [value("PID.1", "x")], H + "\rPID|x\rOBX|1", []),
    ("a rest of a path", H + "\rPID|||||a^b", [value("PID.5.1xyz", "x")], H + "\rPID|||||x^b", []),
    ("component 0", H + "\rPID|||||a^b", [value("PID.5.0", "x")], H + "\rPID|||||x", []),
    ("four letters", H + "\rPID|1", [value("PIDX.5", "x")], H + "\rPID|1", [(0, no_field("PIDX.5"))]),
    ("field 0", H + "\rPID|1", [value("PID.0", "x")], H + "\rPID|1", [(0, no_field("PID.0"))]),
    ("occurrence 0", H + "\rOBX|1", [value("OBX[0].5", "x")], H + "\rOBX|1", [(0, no_field("OBX[0].5"))]),
]

# They come back as they went: CR between segments, none at the end, no empty fields at the end.
ROUND_TRIPS = [
    "MSH|^~\\&|APP|FAC|REC|RFAC|20250101120000||ADT^A01^ADT_A01|MSG1|P|2.5\rEVN|A01|20250101\r"
    "PID|1||12345^^^MRN~67890^^^SSN||DOE^JOHN^Q||19700101|M|||1 MAIN ST^^TOWN^ST^12345",
    "MSH|^~\\&|LAB\rOBR|1||A\\T\\B\rOBX|1|NM|GLU^Glucose||5.0|mmol/L\rOBX|2|TX|NOTE||a~~b^c&d\rNTE|1||Å 中 😀",
    'MSH|^~\\&|X\rPID|1||""|true|null|0123|1e5|~|- a|: b|# c|yes',
    "MSH|^~\\&|A\rPID|1||a^b^c^d^e^f^g^h^i^j^k^l\rZZZ|1\rPID|2",
]

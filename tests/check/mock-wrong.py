"""duplex mock with scripts that are wrong: each with its error, to the letter; and limits on both sides."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_talk import *  # noqa: E402,F403


def nested(depth, inner):
    text = inner
    for _ in range(depth):
        text = '{"repeat":1,"do":%s}' % text
    return text


def rule(actions):
    return '{"duplex-mock":1,"on":[{"method":"m","do":%s}]}' % actions


WRONG = [
    ("", ":1:1: invalid JSON: it is empty"),
    ("{", ":1:2: invalid JSON: unexpected end of data"),
    ('{"duplex-mock":1,\n "on":[1,]}', ":2:9: invalid JSON: trailing comma is not allowed"),
    ("[]", ": expected object, found array"),
    ("{}", ": missing member \"duplex-mock\""),
    ('{"duplex-mock":2}', ": /duplex-mock: expected 1, found 2"),
    ('{"duplex-mock":1,"one":[]}', ": /one: unexpected member"),
    ('{"duplex-mock":1,"framing":"lines"}', ": /framing: expected one of \"header\", \"line\", found \"lines\""),
    ('{"duplex-mock":1,"otherwise":"x"}', ": /otherwise: expected one of \"example\", \"refuse\", \"ignore\", \"echo\", found \"x\""),
    ('{"duplex-mock":1,"on":{}}', ": /on: expected array, found object"),
    ('{"duplex-mock":1,"on":[{"method":"m"}]}', ": /on/0: missing member \"do\""),
    ('{"duplex-mock":1,"on":[{"method":5,"do":[]}]}', ": /on/0/method: expected string, found number"),
    ('{"duplex-mock":1,"on":[{"nth":0,"do":[]}]}', ": /on/0/nth: expected at least 1, found 0"),
    ('{"duplex-mock":1,"on":[{"kind":"answer","do":[]}]}', ": /on/0/kind: expected one of \"request\", \"notification\", \"result\", \"error\", found \"answer\""),
    (rule('[{"result":1},{"wait":1}]'), ": /on/0/do/1/wait: unexpected member"),
    (rule("{}"), ": /on/0/do: expected at least 1 member, found 0"),
    (rule('{"params":1}'), ": /on/0/do: missing action, such as \"result\", \"notify\" or \"delay\""),
    (rule('[{"result":1,"error":{"code":1,"message":""}}]'), ": /on/0/do/0: \"result\" and \"error\" are two actions: put each into its own {}"),
    (rule('{"result":1,"params":1}'), ": /on/0/do: \"params\" cannot be used with \"result\""),
    (rule('{"flood":5}'), ": /on/0/do: \"flood\" needs \"do\""),
    (rule('{"flood":0,"do":[]}'), ": /on/0/do/flood: expected at least 1, found 0"),
    (rule('{"flood":10000001,"do":[]}'), ": /on/0/do/flood: expected at most 10000000, found 10000001"),
    (rule('{"repeat":10000001,"do":[]}'), ": /on/0/do/repeat: expected at most 10000000, found 10000001"),
    (rule('{"split":1048577,"do":[]}'), ": /on/0/do/split: expected at most 1048576, found 1048577"),
    (rule('{"huge":1073741825}'), ": /on/0/do/huge: expected at most 1073741824, found 1073741825"),
    (rule('{"huge":"16X"}'), ": /on/0/do/huge: expected a match of \"^[0-9]{1,10}[kMG]?$\", found \"16X\""),
    (rule('{"delay":"soon"}'), ": /on/0/do/delay: expected a match of \"^[0-9]{1,9}(ms|s|m|h)?$\", found \"soon\""),
    (rule('{"delay":5}'), ": /on/0/do/delay: expected string, found number"),
    (rule('{"base64":"?"}'), ": /on/0/do/base64: expected a match of \"^[A-Za-z0-9+/]*={0,2}$\", found \"?\""),
    (rule('{"base64":"AAAAA="}'), ": /on/0/do/base64: not base64: the length is not a multiple of 4"),
    (rule('{"exit":256}'), ": /on/0/do/exit: expected at most 255, found 256"),
    (rule('{"signal":"BANG"}'), ": /on/0/do/signal: unknown signal 'BANG'"),
    (rule('{"ignore":"KILL"}'), ": /on/0/do/ignore: KILL cannot be ignored"),
    (rule('{"fault":"none"}'), ": /on/0/do/fault: unknown fault 'none'; 'duplex mock --list-faults' lists them"),
    (rule('{"error":{"code":1}}'), ": /on/0/do/error: missing member \"message\""),
    (rule('{"result":{"a/b":["${parms}"]}}'), ": /on/0/do/result/a~1b/0: unknown template ${parms}"),
    (rule('{"result":"${id.x}"}'), ": /on/0/do/result: unknown template ${id.x}"),
    (rule('{"raw":"a ${id"}'), ": /on/0/do/raw: missing } of the template; write \"$${\" for a literal \"${\""),
    (rule('{"result":"${env:NOT_SET_AT_ALL}"}'), ": /on/0/do/result: the environment variable of ${env:NOT_SET_AT_ALL} is not set"),
    (rule('{"result":1,"result":2}'), ": /on/0/do: \"result\" appears twice"),
    ('{"duplex-mock":1,"duplex-mock":1}', ": \"duplex-mock\" appears twice"),
    ('{"duplex-mock":1,"on":[{"params":{"a":{"$regex":"("}},"do":[]}]}', ": /on/0/params/a: $regex: a group that is not closed, at 1 \"(\""),
    ('{"duplex-mock":1,"on":[{"params":{"a":{"$regex":5}},"do":[]}]}', ": /on/0/params/a: \"$regex\" must be a string"),
    ('{"duplex-mock":1,"on":[{"params":[{"$like":"x"}],"do":[]}]}', ": /on/0/params/0: unknown operator \"$like\": expected $regex, $type or $any"),
    ('{"duplex-mock":1,"on":[{"params":{"$type":"text"},"do":[]}]}', ": /on/0/params: \"$type\" must be one of string, number, integer, boolean, null, object, array"),
    ('{"duplex-mock":1,"on":[{"params":{"$any":1},"do":[]}]}', ": /on/0/params: \"$any\" must be true"),
    ('{"duplex-mock":1,"on":[{"params":{"$any":true,"b":1},"do":[]}]}', ": /on/0/params: \"$any\" must be the only member"),
    (rule(nested(16, '{"result":1}')), None),
    (rule('{"result":%s}' % ("[" * 220 + "]" * 220)), None),
    ("[" * 5000, ": nested too deeply"),
    ('{"duplex-mock":1,"start":[{"request":"a","then":{"result":"${reslt}"}}]}', ": /start/0/then/result: unknown template ${reslt}"),
]


def wrong(text, wanted):
    def run():
        mock = Mock(script=text)
        path = mock.process.args[2]
        same(mock.finish(), 2)
        same(mock.seen, b"")
        said = mock.errors.decode()
        if wanted is None:
            assert said.endswith((": nested too deeply\n", "actions are nested more than 16 levels deep\n")), said
        else:
            same(said, "duplex mock: %s%s\n" % (path, wanted))
    return run


for number, (text, wanted) in enumerate(WRONG):
    CASES.append(("wrong %d" % number, wrong(text, wanted)))


@case
def just_right():
    for text in (rule(nested(15, '{"result":1}')), rule('{"result":%s}' % ("[" * 150 + "]" * 150)),
                 '{"$schema":"x","description":"d","duplex-mock":1}', '{"duplex-mock":1.0}',
                 rule('{"split":1048576,"do":[]}'), rule('{"exit":255}'), rule('{"delay":"0"}'), rule('{"huge":"0k"}'),
                 rule('[{"ignore":"SIGTERM"},{"garbage":0},{"flood":10000000,"do":[]}]')):
        seen, code, said = ask(send=b"", script=text)
        same((seen, code, said), (b"", 0, ""), text[:200])


@case
def too_long():
    for size, code in ((16 << 20, 0), ((16 << 20) + 1, 2)):
        text = '{"duplex-mock":1}'
        seen, got, said = ask(send=b"", script=text + " " * (size - len(text)))
        same((seen, got), (b"", code))
        same("longer than 16 MiB" in said, code == 2)


@case
def as_json():
    mock = Mock("--json", script="{}")
    same(mock.finish(), 2)
    error = json.loads(mock.seen)["error"]
    same((error["exit"], error["kind"]), (2, "usage"))
    same(mock.errors, b"")


@case
def names_that_steer():
    mock = Mock(script=rule('{"\\u001b[1m":1}'))
    same(mock.finish(), 2)
    assert b"\x1b" not in mock.errors, mock.errors


sys.exit(run_all())

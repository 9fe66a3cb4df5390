"""The sample messages of each protocol, made into conversations.

    samples.py DUPLEX FOLDER

Nothing is wrong with those that are valid, nor with those that are taken though they are not. A
sample does not say in which state it may be sent, nor whether it is a request if it has no result.
So each has a conversation of its own behind a gap, and is sent once more as a request if it is one.
"""
import json
import os
import subprocess
import sys
import tempfile

DUPLEX, FOLDER = sys.argv[1:]
failures = 0


def records(sample, run, is_request):
    other = {"host": "plugin", "plugin": "host"}[sample["from"]]
    message = {"jsonrpc": "2.0", "method": sample["method"]}
    if "params" in sample:
        message["params"] = sample["params"]
    if is_request:
        message["id"] = 7
    yield {"from": sample["from"], "run": run, "message": message}
    if "result" in sample:
        yield {"from": other, "run": run, "message": {"jsonrpc": "2.0", "id": 7, "result": sample["result"]}}


def lint(name, lines):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        print('{"duplex-trace":1,"time":"us","part":1}', file=file)
        for line in lines:
            print(json.dumps(line), file=file)
        file.flush()
        done = subprocess.run([DUPLEX, "lint", "--json", "--max", "0", "-p", name, file.name], timeout=20,
                              capture_output=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def judge(name, samples):
    """The findings of each sample."""
    wrong = [[] for _ in samples]
    asked = ["result" in sample for sample in samples]
    for _ in range(2):
        lines = [{"dropped": 1}]
        for index, sample in enumerate(samples):
            lines += records(sample, index * 2 + 1, asked[index])
        _, found = lint(name, lines)
        if found[-1]["summary"]["messages"] != sum("message" in line for line in lines):
            fail(name, "does not read them all", found[-1])
        wrong = [[] for _ in samples]
        for one in found[:-1]:
            if one["severity"] == "finding":
                wrong[one["run"] // 2].append(one)
        for index, ones in enumerate(wrong):
            asked[index] |= any(one["kind"] == "method-kind" for one in ones)
    return wrong


def fail(*what):
    global failures
    print(*what)
    failures += 1


good = bad = caught = 0
for file in sorted(os.listdir(FOLDER)):
    protocol = file.removesuffix(".json")
    with open(os.path.join(FOLDER, file), encoding="utf-8") as text:
        document = json.load(text)
    for sample, wrong in zip(document["valid"], judge(protocol, document["valid"])):
        good += 1
        if wrong:
            fail(protocol, sample, *wrong)
    for sample, wrong in zip(document["invalid"], judge(protocol, document["invalid"])):
        bad += 1
        caught += bool(wrong)
        if wrong and sample.get("taken"):
            fail(protocol, sample, *wrong)
# Those that are not caught have no flaw but a member that their document does not know.
if caught < bad * 0.7:
    fail(f"only {caught} of {bad} invalid samples were found")
print(f"{good} valid samples, {caught} of {bad} invalid ones found, {failures} failures")
sys.exit(failures != 0)

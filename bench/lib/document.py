"""The document of W3: about 16 MiB that look like what editors and agents send."""

import hashlib
import json
import random

# With its envelope just below 16 MiB, above which jsonrpc-glib reads nothing.
SIZE = (16 << 20) - 1024

WORDS = ("buffer parse token index stream handler request cancel window range symbol folder "
         "größe naïve 関数 переменная café λ → ✓").split()
LINES = (
    'if (length < 0) {\n\treturn error("bad length");\n}\n',
    "C:\\Users\\dev\\src\\main.c: warning: unused variable \"x\"\r\n",
    "\u001b[31mFAILED\u001b[0m tests/test_parse.py::test_größe – expected 12, got 13\n",
    "Die Prüfung läuft noch … 日本語のコメント 🙂\n",
    "The function reads one message, and gives it to whoever waits for it.\n",
)


class Maker:
    def __init__(self):
        # random() is the one method whose sequence Python promises to keep for a seed.
        self.random = random.Random(165).random

    def number(self, below):
        return int(self.random() * below)

    def pick(self, items):
        return items[self.number(len(items))]

    def words(self, n):
        return " ".join(self.pick(WORDS) for _ in range(n))

    def range(self):
        line = self.number(5000)
        return {"start": {"line": line, "character": self.number(120)},
                "end": {"line": line + self.number(3), "character": self.number(120)}}

    def diagnostic(self):
        return {"range": self.range(), "severity": 1 + self.number(4), "code": f"E{self.number(999)}",
                "source": "check", "message": self.words(4 + self.number(8)),
                "tags": [1, 2][:self.number(3)], "data": None}

    def symbol(self, depth=2):
        children = [self.symbol(depth - 1) for _ in range(self.number(4))] if depth else []
        return {"name": self.pick(WORDS), "kind": 1 + self.number(26), "deprecated": self.random() < 0.1,
                "range": self.range(), "selectionRange": self.range(), "children": children}

    def tokens(self):
        return {"resultId": str(self.number(100000)),
                "data": [[self.number(9), self.number(80), self.number(24), self.number(12), 0]
                         for _ in range(20)]}

    def message(self):
        text = "".join(self.pick(LINES) for _ in range(5 + self.number(60)))
        # The fractions are exact in binary, so that every library writes them back alike.
        return {"role": self.pick(("user", "assistant")), "stop": self.random() < 0.5,
                "usage": {"input": self.number(90000), "share": (1 + 2 * self.number(64)) / 128},
                "content": [{"type": "text", "text": text},
                            {"type": "tool_use", "id": f"call_{self.number(1 << 30):08x}",
                             "name": "read_file", "input": {"path": f"/src/{self.number(99)}/main.c",
                                                            "limit": 2000, "offset": -1}}]}

    def item(self):
        make = self.pick((self.diagnostic,) * 4 + (self.symbol,) * 2 + (self.tokens, self.message))
        return make()


def text():
    maker = Maker()
    begin, end = '{"line":12,"ok":true,"text":"aaa","items":[', "]}"
    items, size = [], len(begin) + len(end)
    while True:
        item = json.dumps(maker.item(), ensure_ascii=False, separators=(",", ":"))
        size += len(item.encode()) + 1
        if size > SIZE:
            return begin + ",".join(items) + end
        items.append(item)


def make(path):
    """Writes the document, unless it is there and as this file would make it. Returns its facts."""
    stamp = path.with_suffix(".stamp")
    with open(__file__, "rb") as source:
        version = hashlib.sha256(source.read()).hexdigest()
    if not (path.exists() and stamp.exists() and stamp.read_text() == version):
        path.write_bytes(text().encode())
        stamp.write_text(version)
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

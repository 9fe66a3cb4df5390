"""A hostile model, client, workspace and settings around `duplex autohand agent`, and a hostile agent
around its client."""
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import attack
from attack import MB, Program, Wrong, duplex, memory_bound, python, same, status_of, time_bound, true


class Agent:
    """An agent in a workspace of its own, whose model does as a script says."""

    def __init__(self, answers, settings=None, files=None, links=None, words=()):
        self.place = tempfile.mkdtemp(prefix="attack-")
        self.files = files or {}
        for name, text in self.files.items():
            self.put("w/" + name, text)
        for name, to in (links or {}).items():
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            os.symlink(to, self.path(name))
        os.makedirs(os.path.join(self.place, "w"), exist_ok=True)
        script = "".join(json.dumps(one) + "\n" for one in answers)
        argv = duplex("autohand", "agent", "--path", os.path.join(self.place, "w"),
                      "--home", os.path.join(self.place, "h"), "--script", self.put("script", script),
                      "--config", self.put("settings", json.dumps(settings or {})), *words)
        self.errors = open(os.path.join(self.place, "errors"), "w+", encoding="utf-8", errors="replace")
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.messages = queue.Queue()
        self.seen = []
        self.next = 0
        self.peak = 0
        threading.Thread(target=self.read, daemon=True).start()

    def put(self, name, text):
        path = os.path.join(self.place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def path(self, name):
        return os.path.join(self.place, "w", name)

    def read(self):
        for line in self.child.stdout:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.child.kill()
        self.child.wait()
        self.errors.seek(0)
        said = self.errors.read()
        self.errors.close()
        shutil.rmtree(self.place, ignore_errors=True)
        if kind:
            print("# seen: %s" % attack.shown(json.dumps(self.seen[-6:])))
            print("# said: %s" % attack.shown(said))
        true("Sanitizer" not in said, said[-3000:])

    def send(self, method, params=None, answered=True):
        message = {"jsonrpc": "2.0", "method": "autohand." + method, "params": params or {}}
        if answered:
            self.next += 1
            message["id"] = self.next
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()
        return self.next

    def until(self, *wanted):
        """The next message of one of these names, or with one of these ids."""
        end = time.monotonic() + time_bound(10)
        for message in self.seen:
            if "method" not in message and message.get("id") in wanted:
                return message
        while True:
            try:
                message = self.messages.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Wrong("nothing of %s came" % (wanted,)) from None
            if message is None:
                raise Wrong("the agent ended")
            self.seen.append(message)
            self.peak = max(self.peak, status_of(self.child.pid, "VmHWM") or 0)
            name = message.get("method", "").removeprefix("autohand.")
            if name in wanted or ("method" not in message and message.get("id") in wanted):
                return message

    def ask(self, method, params=None):
        return self.until(self.send(method, params))

    def answer(self, request, **params):
        return self.ask("permissionResponse", {"requestId": request, **params})

    def turn(self, permit=None, accept=True):
        """One prompt. Returns which calls were asked for (command or path), and what each gave."""
        asked = []
        prompt = self.send("prompt", {"message": "go"})
        first = len(self.seen)
        while True:
            message = self.until("permissionRequest", prompt)
            if "method" not in message:
                break
            params = message["params"]
            context = params.get("context", {})
            asked.append(context.get("command") or context.get("path"))
            self.send("permissionResponse", {"requestId": params["requestId"], "allowed": permit is None or permit(params)})
        batches = [it["params"] for it in self.seen[first:] if it.get("method") == "autohand.changesBatchEnd"]
        if batches and batches[-1]["changeCount"]:
            self.decided = self.ask("changesDecision", {"batchId": batches[-1]["batchId"],
                                                        "action": "accept_all" if accept else "reject_all"})["result"]
        outputs = [it["params"].get("output") or it["params"].get("result") or "" for it in self.seen[first:]
                   if it.get("method") == "autohand.toolEnd"]
        errors = [it["params"]["message"] for it in self.seen[first:] if it.get("method") == "autohand.error"]
        true(self.peak <= memory_bound(60 * MB), "%d MB resident" % (self.peak / MB))
        return asked, outputs, errors


def calls(*tools):
    """A turn of the model that makes these calls, each (name, arguments), and then ends."""
    return [{"role": "user", "toolCalls": [{"name": name, "args": args} for name, args in tools]},
            {"role": "tool", "text": "done", "repeat": True}]


def no_secret(agent):
    true("TOPSECRET" not in json.dumps(agent.seen), "the secret was read")


# Rules and links.

SECRET = {"secret.txt": "TOPSECRET", "dir/secret/a": "TOPSECRET", "open/a.txt": "fine"}
LINKS = {"link": "secret.txt", "open/up": "../dir", "chain": "link", "self": ".", "deep/er": "../open/up/secret"}


def attack_rule_links():
    """deny read_file:secret* holds by whatever name the file is reached."""
    deny = {"permissions": {"deny": ["read_file:secret*", "read_file:dir/secret/*", "search:dir/secret*", "list_tree:dir/secret*"]}}
    tools = [("read_file", {"path": path}) for path in (
        "secret.txt", "./secret.txt", "link", "chain", "self/secret.txt", "self/self/link", "open/up/secret/a",
        "deep/er/a", "SECRET.TXT", "open/../secret.txt", "dir//secret/a")]
    tools += [("search", {"query": "SECRET", "path": "deep/er"}), ("list_tree", {"path": "open/up/secret"})]
    with Agent(calls(*tools, ("read_file", {"path": "self/open/a.txt"})), deny, SECRET, LINKS) as agent:
        asked, outputs, errors = agent.turn()
        same(asked, [], "asked")
        no_secret(agent)
        true(any("fine" in text for text in outputs), "what is not denied cannot be read")
        same(len([text for text in errors if "forbidden by a rule" in text]), len(tools) - 1, "denied: %s" % errors)


def attack_rule_link_allowed():
    """allow write_file:notes/* does not cover a link in notes that leads elsewhere; deny covers it."""
    settings = {"permissions": {"allow": ["write_file:notes/*"], "deny": ["write_file:secret*"]}}
    files = {"notes/x": "x", "Makefile": "all:\n", "secret.txt": "s"}
    links = {"notes/m": "../Makefile", "notes/s": "../secret.txt", "notes/d": "../lib"}
    tools = [("write_file", {"path": path, "contents": "new"}) for path in ("notes/x", "notes/m", "notes/s", "notes/d/new")]
    with Agent(calls(*tools), settings, {**files, "lib/a": "a"}, links) as agent:
        asked, _, errors = agent.turn(permit=lambda params: False)
        same(asked, ["notes/m", "notes/d/new"], "asked")
        true(any("forbidden by a rule" in text for text in errors), errors)
        said = [it["params"]["description"] for it in agent.seen if it.get("method") == "autohand.permissionRequest"]
        true("It points to Makefile" in said[0] and "It points to lib/new" in said[1], said)
        with open(agent.path("Makefile"), encoding="utf-8") as file:
            same(file.read(), "all:\n", "Makefile")


def attack_rule_link_swapped():
    """A link that a command of the same answer makes after the rules were asked is noticed."""
    settings = {"permissions": {"allow": ["run_command:ln *"], "deny": ["read_file:secret*", "write_file:secret*"]}}
    tools = [("run_command", {"command": "ln -sfn secret.txt a.txt"}), ("read_file", {"path": "a.txt"}),
             ("write_file", {"path": "a.txt", "contents": "owned"})]
    with Agent(calls(*tools), settings, {"secret.txt": "TOPSECRET", "a.txt": "harmless"}) as agent:
        agent.turn()
        same(os.readlink(agent.path("a.txt")), "secret.txt", "the link")
        no_secret(agent)
        with open(agent.path("secret.txt"), encoding="utf-8") as file:
            same(file.read(), "TOPSECRET", "secret.txt")


def attack_rule_link_swapped_later():
    """The same after the change was made, and before the client accepts it."""
    settings = {"permissions": {"allow": ["run_command:*"], "deny": ["write_file:secret*"]}}
    tools = [("write_file", {"path": "d/new", "contents": "owned"}),
             ("write_file", {"path": "fine", "contents": "fine"}),
             ("run_command", {"command": "rm -r d"}), ("run_command", {"command": "ln -s secret d"})]
    with Agent(calls(*tools), settings, {"secret/a": "a", "d/x": "x"}) as agent:
        agent.turn()
        same(agent.decided["appliedCount"], 1, "applied: %s" % agent.decided)
        true("points to a different file than when the change was made" in str(agent.decided["errors"]), agent.decided)
        same(os.listdir(agent.path("secret")), ["a"], "the folder")


# Git.

def attack_git_files():
    """No tool writes what makes git run programs, by whatever name, even if everything is allowed."""
    files = {".git/config": "[core]\n", ".git/hooks/x": "x", "sub/.git/config": "[core]\n", "a": "a",
             "wt/.git": "gitdir: ../real\n", ".gitconfig": "[core]\n", ".config/git/config": "[core]\n"}
    links = {"g": ".git", "h": ".git/hooks", "c": ".git/config", "up/self": "..", "s": ".gitconfig", "f": ".config/git"}
    paths = [".git/config", ".GIT/config", ".git/hooks/pre-commit", ".git/info/attributes", ".git/new/deep", "sub/.git/config",
             "sub/.Git/hooks/pre-commit", "new/.git", "new/.git/config", "wt/.git", "g/config", "h/pre-commit", "c",
             "up/self/.git/config", "up/self/g/config", ".git/modules/x/hooks/y", ".git/worktrees/x/config.worktree",
             ".gitconfig", ".GITCONFIG", "sub/.gitconfig", "new/.GitConfig", ".config/git/config", ".Config/GIT/attributes", "sub/.config/git/x/y",
             "s", "f/config", "f/new", "up/self/.gitconfig"]
    patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-[core]\n+[core] fsmonitor=x\n"
    tools = [("write_file", {"path": path, "contents": "evil"}) for path in paths]
    tools += [("apply_patch", {"path": "c", "patch": patch}), ("delete_path", {"path": ".git/config"}),
              ("delete_path", {"path": ".gitconfig"}), ("apply_patch", {"path": "s", "patch": patch}),
              ("search_replace", {"path": "g/config", "search": "core", "replace": "alias"}),
              ("read_file", {"path": ".git/config"}), ("write_file", {"path": ".gitignore", "contents": "fine"})]
    for words in (["--yolo"], ["--yolo", "--no-preview"]):
        with Agent(calls(*tools), {}, files, links, words) as agent:
            before = tree(agent.path(""))
            agent.turn()
            after = tree(agent.path(""))
            same(after.pop(".gitignore", None), "fine", ".gitignore")
            same(after, before, "the workspace")


def attack_git_folder_elsewhere():
    """Where the file .git of the workspace leads is kept, too."""
    tools = [("write_file", {"path": path, "contents": "evil"}) for path in ("bare/config", "BARE/hooks/x", "b/config", "barefoot")]
    with Agent(calls(*tools), {}, {".git": "gitdir: ./bare\n", "bare/config": "[core]\n"}, {"b": "bare"}, ["--yolo"]) as agent:
        agent.turn()
        same(tree(agent.path("")), {".git": "gitdir: ./bare\n", "bare/config": "[core]\n", "barefoot": "evil"}, "the workspace")


def tree(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, top)] = file.read()
    return found


GIT_ASKS = [
    "git -c core.pager=x log", "git -ccore.pager=x log", "git --exec-path=. status", "git --config-env=a=b log",
    "git --git-dir=x status", "git -C x status", "git -p log", "git --no-pager -c a=b log", "git x", "git lg",
    "git config alias.x '!id'", "git fetch --upload-pack=id", "git fetch --upload-pa id .", "git clone -u id . x",
    "git clone -qu id . x", "git clone -c core.fsmonitor=id . x", "git clone --config a=b . x", "git clone 'ext::sh -c id' x",
    "git push --receive-pack=id", "git push --exec=id", "git ls-remote --exec=id .", "git rebase -x id HEAD",
    "git rebase --exec id HEAD", "git rebase --ex=id HEAD", "git grep -O id x", "git grep -nO x", "git grep --open-files-in-pager=id x",
    "git bisect run id", "git submodule foreach id", "git filter-branch --tree-filter id", "git difftool -x id", "git diff --ext-diff",
    "git init --template=x y", "git diff --output=x", "git init --separate-git-dir=x", "git remote add x ext::id", "/usr/bin/git -c a=b log",
    "git help -w log", "git send-email --smtp-server=id x", "git archive --remote=x --exec=id HEAD", "git commit --fixup x --exec",
    "git push ./b.git HEAD:refs/heads/m", "git push b.git HEAD", "git push b HEAD", "git push -u b HEAD", "git push x HEAD", "git push -o origin x/b HEAD",
    "git push --repo=b", "git push --rep b", "git push '~b'", "git push /b", "git push -- ./b", "git pull ../b", "git fetch host:b", "git fetch https://host/b",
    "git fetch origin --multiple ./b", "git fetch --multiple origin ./b", "git fetch origin -qm b", "git ls-remote ./b", "git ls-remote -q x", "git remote add y b", "git remote add -f y z",
    "git remote set-url origin y", "git remote rename origin y", "git remote -v rm origin", "git remote show ./b", "git remote update ./b", "git clone y z", "git fetch evil::x", "git ls-remote EXT::x", "git pull evil::",
    "git push origin --push-option=evil::x", "git merge -s evil x", "git merge -sevil x", "git merge -qs evil x", "git merge --strategy evil x",
    "git rebase --strategy=evil x", "git rebase -ms evil x", "git pull -s evil", "git pull origin main -sevil", "git merge -s ours -s evil x",
    "git cherry-pick --strategy evil x", "git revert --strategy=evil x", "git apply --unsafe-paths p", "git apply --unsafe p",
    "git apply --build-fake-ancestor=.git/x p", "git mv x/a .git/hooks/a", "git worktree add .git/hooks"]
GIT_RUNS = ["git", "git status", "git --version", "git --no-pager log --oneline -u", "git push -u", "git commit -m 'a\n-x'",
            "git switch -c x", "git add -u", "git grep std::vector",
            "git push origin main", "git push -u origin topic/one", "git push origin HEAD:refs/heads/m", "git fetch origin", "git fetch --depth=1 origin",
            "git pull --rebase origin main", "git ls-remote origin", "git remote -v", "git merge -s ours y", "git merge -Xtheirs y",
            "git rebase --strategy=resolve y", "git cherry-pick -s y"]


def attack_git_rule():
    """allow run_command:git * does not cover what has git run another program; an exact rule does."""
    settings = {"permissions": {"allow": ["run_command:git *", "run_command:git", "run_command:/usr/bin/git *",
                                          "run_command:git -c a=b version"]}}
    tools = [("run_command", {"command": line}) for line in [*GIT_ASKS, *GIT_RUNS, "git -c a=b version"]]
    tools += [("run_command", {"command": "git", "args": ["status"], "directory": "x"}),
              ("run_command", {"command": "git", "args": ["-c", "a=b", "log"]})]
    with Agent(calls(*tools), settings, {"x/a": "", ".git/config": "[core]\n[remote \"origin\"]\n\turl = none\n"}) as agent:
        asked, _, _ = agent.turn(permit=lambda params: False)
        same(len(asked), len(GIT_ASKS) + 2, "asked: %s; %s" % (set(GIT_ASKS) - set(asked), set(asked) - set(GIT_ASKS)))


def attack_git_hook_of_another():
    """A model makes a repository with a hook, and pushes to it: under git * that is asked for."""
    hook = "".join("+%s\n" % line for line in ("#!/bin/sh", "touch ../owned"))
    patch = "".join("diff --git a/{0} b/{0}\nnew file mode 100755\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1,2 @@\n{1}".format(name, hook)
                    for name in ("b.git/hooks/post-receive", "origin/hooks/post-receive"))
    pushes = ["git push %s HEAD:refs/heads/m" % place for place in ("./b.git", "b.git", "b", "origin")]
    lines = ["git init -q .", "git init -q --bare b.git", "git init -q --bare origin", "git apply p", "git add p",
             "git commit -q -m x", *pushes]
    who = {"GIT_%s_%s" % (role, what): "x@x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    os.environ.update(who, GIT_CONFIG_GLOBAL="/dev/null")
    tools = [("run_command", {"command": line}) for line in lines]
    with Agent(calls(*tools), {"permissions": {"allow": ["run_command:git *"]}}, {"p": patch}) as agent:
        asked, _, _ = agent.turn(permit=lambda params: False)
        true(os.access(agent.path("b.git/hooks/post-receive"), os.X_OK), "there is no hook")
        true(not os.path.exists(agent.path("owned")), "a hook ran; asked: %s" % asked)
        same(asked, pushes, "asked")


# Forged answers.

def attack_forged_permission():
    """Only the answer to a question that is open counts, once, and only by its very id."""
    tools = ("run_command", {"command": "touch one"}), ("run_command", {"command": "touch two"})
    with Agent([*calls(tools[0]), *calls(tools[1]), *calls(tools[1])]) as agent:
        def fails(request, what, **params):
            reply = agent.ask("permissionResponse", {"requestId": request, **params})
            true("error" in reply or reply["result"].get("success") is False, "%s: %s" % (what, reply))

        yes = {"allowed": True, "decision": "allow_always_user"}
        fails("perm_1", "before any question", **yes)
        prompt = agent.send("prompt", {"message": "go"})
        question = agent.until("permissionRequest")["params"]["requestId"]
        for forged in ("", question[:-1], question + "x", question + "\0", question + "\0x", question.upper(), " " + question,
                       "*", "%", question + "\n", "\u200b" + question, "x" * 100000):
            fails(forged, repr(forged[:20]), **yes)
        for forged in (None, 0, 1, True, [], [question], {}, {question: question}, {"requestId": question}, -1, 1e308):
            fails(forged, repr(forged), **yes)
        for params in ({}, {"requestid": question, **yes}, {"request_id": question, **yes}, {"id": question, **yes}):
            true("error" in agent.ask("permissionResponse", params), params)
        agent.send("permissionResponse", {"requestId": "perm_none", **yes}, answered=False)
        true(not os.path.exists(agent.path("one")), "a forged answer counted")
        for wrong in (1, "true", "yes", [True], {}, None):
            fails(question, "allowed: %r" % (wrong,), allowed=wrong)
        # What is no clear yes is a no; and it was the answer, once.
        agent.answer(question, allowed=True, decision=["allow_once"])
        fails(question, "answered twice", **yes)
        agent.until(prompt)
        fails(question, "after its turn", **yes)
        true(not os.path.exists(agent.path("one")), "an answer of the wrong type counted")
        # One of another turn; and the first of two answers counts.
        prompt = agent.send("prompt", {"message": "go"})
        other = agent.until("permissionRequest")["params"]["requestId"]
        true(other != question, "an id was used again")
        fails(question, "of another turn", **yes)
        agent.answer(other, allowed=False)
        fails(other, "a yes after the no", **yes)
        agent.until(prompt)
        # Nothing of all that was remembered.
        prompt = agent.send("prompt", {"message": "go"})
        agent.until("permissionRequest")
        agent.ask("abort")
        agent.until(prompt)
        true(not os.path.exists(agent.path("two")), "a forged answer counted")
        true(not os.path.exists(os.path.join(agent.place, "h", "permissions.json")), "a forged answer was remembered")


# Hooks.

EVIL = ["\n", "$(touch owned)", "`touch owned`", "'; touch owned; '", "\"; touch owned; \"", "../../x", "--help", "-c", "=x", "A=B",
        "\x1b[2J", "\u202e", "x" * 50000, "%s%n", "\\0", "a b", "LD_PRELOAD=/x", "\nLD_PRELOAD=/x", "HOOK_EVENT=x", "\0", "\0PATH=/x"]


def attack_hook_values():
    """Names and arguments that a model chooses reach hooks as data: no shell and no variable of theirs."""
    hook = ("env -0 > env.$$; cat > in.$$; mv env.$$ env-$$; "
            "[ \"$PATH\" = \"$WANTED\" ] && [ -z \"$LD_PRELOAD\" ] || touch owned")
    settings = {"hooks": {"hooks": [{"event": event, "command": hook} for event in ("pre-tool", "post-tool", "permission-request")]}}
    tools = [(evil, {"command": evil, "path": evil}) for evil in EVIL]
    tools += [("run_command", {"command": "true", "args": [evil]}) for evil in EVIL]
    tools += [("write_file", {"path": evil, "contents": evil}) for evil in EVIL]
    os.environ["WANTED"] = os.environ["PATH"]
    with Agent(calls(*tools), settings) as agent:
        agent.turn()
        names = os.listdir(agent.path(""))
        true("owned" not in names, names)
        environments = [name for name in names if name.startswith("env-")]
        true(len(environments) > len(EVIL), "too few hooks ran: %d" % len(environments))
        for name in environments:
            with open(agent.path(name), "rb") as file:
                variables = [line.split(b"=", 1)[0] for line in file.read().split(b"\0") if line]
            same(len(variables), len(set(variables)), "%s: a variable is there twice" % name)
            true(b"LD_PRELOAD" not in variables, "a variable was injected")
        for name in names:
            if name.startswith("in."):
                with open(agent.path(name), encoding="utf-8") as file:
                    text = file.read()
                same(text.count("\n"), 1, "lines of the object")
                json.loads(text)


def attack_hook_settings():
    """Hooks whose own members are hostile: none runs that should not, and no pattern hangs the agent."""
    def hook(**members):
        return {"event": "pre-tool", "command": "touch ran-%s" % members.pop("name"), **members}

    settings = {"hooks": {"hooks": [
        hook(name="event", event="pre-tool\n"), hook(name="upper", event="PRE-TOOL"), hook(name="nowhere", event="../pre-tool"),
        hook(name="escape", event="\x1b[2J\u202e"), hook(name="matcher", matcher="("), hook(name="bomb", matcher="^(r+)+$"),
        hook(name="bomb2", matcher="(.*)*(.*)*(.*)*x$"), hook(name="line", matcher="^run_command\n$"),
        hook(name="tool", filter={"tool": ["run_command\n", "../run_command", "*"]}),
        hook(name="path", filter={"path": ["../**", "/**/..", "[", "{" * 500, "{a,b}" * 100, "**/" * 200 + "x"]}),
        hook(name="good", matcher="^run_command$", description="\x1b[2J\n" * 1000),
        {"event": "pre-tool", "command": "\n--help\n"}, {"event": "pre-tool", "command": "-c 'touch ran-option'"},
        {"event": "pre-tool", "command": "exit 3 # " + "x" * 60000}]}}
    with Agent(calls(("run_command", {"command": "true"})), settings) as agent:
        agent.turn()
        ran = sorted(name for name in os.listdir(agent.path("")) if name.startswith("ran-"))
        true("ran-good" in ran, ran)
        same([name for name in ran if name not in ("ran-good", "ran-bomb", "ran-bomb2")], [], "these ran")
        agent.errors.flush()
        with open(agent.errors.name, encoding="utf-8", errors="replace") as file:
            said = file.read()
        true("\x1b" not in said and "\u202e" not in said, "a name steers the terminal: %r" % said[:500])


# The client.

FLOOD = r"""
import os, sys
line = b'{"jsonrpc":"2.0","id":"%s","method":"nope"}\n' % (b"i" * 1000) * 500
try:
    while True:
        os.write(1, line)
except OSError:
    pass
"""


def attack_client_replies():
    """An agent that asks and does not read: no more than 128 MiB of answers wait for it."""
    with Program(duplex("autohand", "prompt", "--yes", "--timeout", "4s", "hi", "--", *python(FLOOD))) as program:
        last = 0
        end = time.monotonic() + time_bound(4)
        while time.monotonic() < end and program.child.poll() is None:
            time.sleep(0.5)
            if program.peak == last and last > 100 * MB:
                break
            last = program.peak
        program.below(175 * MB)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))

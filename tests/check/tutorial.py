#!/usr/bin/env python3
"""Runs every command of a page, in one shell, and compares what it prints.

usage: tutorial.py [--installed] FOLDER FILE.md

The shell starts in FOLDER, which looks like the sources after `./dev run`. A page begins with the
commands that prepare a shell; if it does not, those of docs/README.md come first. README.md needs
none. --installed leaves the preparation out: Duplex is installed, and FOLDER is where to work.

A fenced block "```LANGUAGE FILE" is a file that the reader saves. Readers don't see the name there,
so the line above it is "`FILE`:". FILE is relative to the directory in which the shell is, and its
folder must exist: the page has to create it. The page tells readers to save its files. A block
"```console" has commands after "$ " (a line that ends with a backslash continues), each followed by
what it prints, on either stream. There, "…" stands for any text within a line, and a line that is
only "…" for any lines; "0.…" at the start of a line of traffic is its time. A line that begins with
"# " is a caption.
"""
import pathlib, re, subprocess, sys, textwrap

MARK = "--duplex-tutorial-mark--"
PREPARES = './dev env'
LIMIT_S = 30


class Shell:
    def __init__(self, folder):
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=folder, text=True, errors="replace", stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, command):
        # What a command reads is its own affair, not the shell's next command.
        self.bash.stdin.write(f"{{ {command}\n}} </dev/null\necho; echo {MARK} $?\n")
        self.bash.stdin.flush()
        lines = []
        for line in self.bash.stdout:
            if line.startswith(MARK):
                break
            lines.append(line.rstrip("\n"))
        else:
            raise SystemExit(f"the shell ended at: {command}")
        # The empty line is ours; if the last line was not ended, it only ends that.
        return lines[:-1] if lines and not lines[-1] else lines

    def end(self):
        self.bash.stdin.close()
        self.bash.wait(LIMIT_S)


def fits(wanted, found):
    pattern = []
    for line in wanted:
        if line.strip() == "…":
            pattern.append("(?:.*\n)*?")
        else:
            time = re.match(r" +0\.(?=…)", line)
            start = r" +\d+\." if time else ""
            rest = line[time.end():] if time else line
            pattern.append(start + ".*".join(re.escape(part) for part in rest.rstrip().split("…")) + " *\n")
    return re.fullmatch("".join(pattern), "".join(line.rstrip() + "\n" for line in found)) is not None


def blocks(text):
    """(language, file or None, lines, line number, the text above it) of each fenced block."""
    fence = None
    above = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"^```(\w*)(?: (\S+))?\s*$", line)
        if fence is None and mark:
            fence = (mark[1], mark[2], [], number, above)
        elif fence is not None and line.startswith("```"):
            yield fence
            fence = None
            above = ""
        elif fence is not None:
            fence[2].append(line)
        else:
            above += line + "\n"


def steps(lines):
    """(command, what it prints) of a console block."""
    step = None
    for line in lines:
        if line.startswith("# "):  # a caption
            continue
        if step and step[0].endswith("\\"):
            step[0] = step[0][:-1] + line.strip()
        elif line.startswith("$ "):
            if step:
                yield step
            step = [line[2:], []]
        elif step:
            step[1].append(line)
    if step:
        yield step


def main():
    installed = sys.argv[1] == "--installed"
    folder, page = map(pathlib.Path, sys.argv[-2:])
    text = page.read_text(encoding="utf-8")
    parts = list(blocks(text))
    if any(part[1] for part in parts) and not re.search(r"\b[Ss]ave (?:the block|this) ", text):
        print(f"{page.name}: it does not tell readers to save its files")
        return 1
    shell = Shell(folder)
    count = {"commands": 0, "files": 0}

    def run_block(lines, number):
        for command, wanted in steps(lines):
            found = shell.run(command)
            count["commands"] += 1
            if not fits(wanted, found):
                print(f"{page.name}:{number}: $ {command}\n  it should print:")
                print(textwrap.indent("\n".join(wanted), "    "))
                print("  it prints:")
                print(textwrap.indent("\n".join(found), "    "))
                raise SystemExit(1)

    def prepares(part):
        return part[0] == "console" and any(PREPARES in line for line in part[2])

    if not (page.parent / "dev").exists():
        own = [part for part in parts if prepares(part)]
        parts = [part for part in parts if not prepares(part)]
        index = (page.parent / "README.md").read_text(encoding="utf-8") if not own else ""
        own = own or [part for part in blocks(index) if prepares(part)]
        if not installed:
            run_block(own[0][2], own[0][3])
    for language, name, lines, number, above in parts:
        if name and not above.endswith(f"`{name}`:\n\n"):
            print(f"{page.name}:{number}: the line above the block is not `{name}`:")
            return 1
        if name:
            path = pathlib.Path(shell.run("pwd")[0], name)
            if not path.parent.is_dir():
                print(f"{page.name}:{number}: the folder of {name} does not exist: the page has to create it")
                return 1
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            count["files"] += 1
        elif language == "console":
            run_block(lines, number)
    shell.end()
    print(f"{page.name}: {count['commands']} commands, {count['files']} files")
    return 0 if count["commands"] else 1


if __name__ == "__main__":
    sys.exit(main())

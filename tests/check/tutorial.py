#!/usr/bin/env python3
"""Does what a tutorial says, in a folder of its own.

usage: tutorial.py FILE.md

A fenced block "```LANGUAGE FILE" is a file that the reader writes, who does not see its name there: so the text
above it has `FILE`. A block "```console" has commands
behind "$ " (a line that ends with a backslash goes on), each followed by what it prints, on either
stream. In that, "…" stands for any text within a line, and a line that is only "…" for any lines;
"0.…" at the start of a line of traffic is its time, whatever second that was in.
All commands of a page are given to one shell.
"""
import os, pathlib, re, subprocess, sys, tempfile, textwrap

MARK = "--duplex-tutorial-mark--"
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
    page = pathlib.Path(sys.argv[1])
    count = {"commands": 0, "files": 0}
    with tempfile.TemporaryDirectory() as folder:
        if page.name == "README.md":  # it is read in the folder of the sources, after ./dev run
            os.symlink(os.environ["BUILD"], os.path.join(folder, "build"))
        shell = Shell(folder)
        for language, name, lines, number, above in blocks(page.read_text(encoding="utf-8")):
            if name and f"`{name}`" not in above:
                print(f"{page.name}:{number}: nothing tells the reader to call it {name}")
                return 1
            if name:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
                count["files"] += 1
            elif language == "console":
                for command, wanted in steps(lines):
                    found = shell.run(command)
                    count["commands"] += 1
                    if not fits(wanted, found):
                        print(f"{page.name}:{number}: $ {command}\n  it should print:")
                        print(textwrap.indent("\n".join(wanted), "    "))
                        print("  it prints:")
                        print(textwrap.indent("\n".join(found), "    "))
                        return 1
        shell.end()
    print(f"{page.name}: {count['commands']} commands, {count['files']} files")
    return 0 if count["commands"] else 1


if __name__ == "__main__":
    sys.exit(main())

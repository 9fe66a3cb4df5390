"""duplex mcp serve files: what can be read, and that nothing leads out. Words: duplex-mcp, an empty folder."""
import base64
import ctypes
import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

import mcp_talk
from mcp_talk import Client, Gone, complain, expect

program, work = sys.argv[1:3]
root = os.path.join(work, "root")
serve = [program, "serve", "files", root]


def write(path, data):
    whole = os.path.join(root, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def uri(path):
    return "file://" + root + "/" + path


os.mkdir(root)
write("a.txt", "one\ntwo\nthree\n")
write("empty.txt", "")
write("no newline", "Ünï\r\nlast")
write("sub/b.c", "int main(void) { return 7; } /* Needle */\n")
write("sub/deep/c.md", "# needle\n")
write("binary.bin", b"\x00\x01needle")
write("latin.txt", b"caf\xe9 needle\n")
write(".hidden", "secret\n")
write(".git/config", "secret\n")
write("odd % #?&name.txt", "odd\n")
write("sub/exact", "x" * 1000)
write("sub/larger", "x" * 1001)
os.makedirs(os.path.join(root, "dir with space"))
bad_name = os.fsencode(os.path.join(root, "bad")) + b"\xff\xfename"
with open(bad_name, "wb") as file:
    file.write(b"bad name\n")
outside = os.path.join(work, "outside")
os.mkdir(outside)
with open(os.path.join(outside, "secret.txt"), "w") as file:
    file.write("the outside\n")
os.mkdir(root + "-other")
with open(root + "-other/x", "w") as file:
    file.write("the outside\n")
for name, target in {"in.txt": "sub/b.c", "out.txt": "../outside/secret.txt", "absolute.txt": outside + "/secret.txt", "outdir": "../outside",
                     "up": "..", "indir": "sub", "loop": "loop", "dangling": "nowhere", "proc": "/proc/self/environ", "cwd": "/proc/self/cwd",
                     "around": "../root/a.txt", "peek": ".hidden", "sub/back": "../a.txt", "sub/self": ".", "full.txt": root + "/sub/b.c", "whole": root,
                     "beside.txt": root + "-other/x", "chain": "full.txt", "full.hid": root + "/.hidden", "full.out": root + "/../outside/secret.txt",
                     "aliased.txt": os.path.join(work, "alias", "a.txt"), "twice.txt": work + "//root/./sub/../sub/b.c", "backdir": "../outside/home/sub",
                     "hid.back": "../alias/.hidden"}.items():
    os.symlink(target, os.path.join(root, name))
os.symlink("root", os.path.join(work, "alias"))
os.symlink("../alias", os.path.join(outside, "home"))
os.mkfifo(os.path.join(root, "fifo"))
sock = socket.socket(socket.AF_UNIX)
sock.bind(os.path.join(root, "socket"))
try:
    os.mknod(os.path.join(root, "device"), 0o20666, os.makedev(1, 5))  # /dev/zero
    has_device = True
except PermissionError:
    has_device = False

# --- What it says of itself. --------------------------------------------------------------------
client = Client(serve)
expect(client.started["serverInfo"]["name"] == "duplex-files", client.started)
expect(client.started["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}, client.started)
tools = {tool["name"]: tool for tool in client.request("tools/list")["tools"]}
expect(set(tools) == {"read_file", "list_files", "search"}, tools)
for tool in tools.values():
    expect(tool["annotations"]["readOnlyHint"] is True and "outputSchema" in tool, tool)
templates = client.request("resources/templates/list")["resourceTemplates"]
expect([one["uriTemplate"] for one in templates] == ["file:///{+path}"], templates)


def listed(client):
    found, cursor, pages = [], None, 0
    while True:
        result = client.request("resources/list", {"cursor": cursor} if cursor else {})
        found += result["resources"]
        pages += 1
        cursor = result.get("nextCursor")
        if not cursor:
            return found, pages


# --- Resources. ---------------------------------------------------------------------------------
resources, pages = listed(client)
names = [one["name"] for one in resources]
expect(names == ["a.txt", "aliased.txt", "around", "bad\ufffd\ufffdname", "binary.bin", "chain", "empty.txt", "full.txt", "in.txt", "latin.txt", "no newline", "odd % #?&name.txt",
                 "sub/b.c", "sub/back", "sub/deep/c.md", "sub/exact", "sub/larger", "twice.txt"], names)
by_name = {one["name"]: one for one in resources}
expect(by_name["a.txt"] == {"uri": uri("a.txt"), "name": "a.txt", "mimeType": "text/plain", "size": 14}, by_name["a.txt"])
expect(by_name["odd % #?&name.txt"]["uri"] == uri("odd%20%25%20%23%3F%26name.txt"), by_name)
expect(by_name["no newline"]["mimeType"] == "text/plain" and by_name["sub/b.c"]["mimeType"] == "text/x-c", by_name)
expect(by_name["binary.bin"]["mimeType"] == "application/octet-stream", by_name)
for one in resources:
    contents = client.request("resources/read", {"uri": one["uri"]}).get("contents")
    expect(contents and len(contents) == 1 and contents[0]["uri"] == one["uri"], one)
read = lambda path: client.request("resources/read", {"uri": uri(path)})
expect(read("a.txt")["contents"][0] == {"uri": uri("a.txt"), "mimeType": "text/plain", "text": "one\ntwo\nthree\n"}, read("a.txt"))
expect(read("empty.txt")["contents"][0]["text"] == "", "empty")
expect(base64.b64decode(read("binary.bin")["contents"][0]["blob"]) == b"\x00\x01needle", "binary")
expect(base64.b64decode(read("latin.txt")["contents"][0]["blob"]) == b"caf\xe9 needle\n", "latin")
expect(read("bad%FF%FEname")["contents"][0]["text"] == "bad name\n", "a name that is no UTF-8")
expect(read("in.txt")["contents"][0]["text"].startswith("int main"), "a link inside")
expect(read("indir/deep/c.md")["contents"][0]["text"] == "# needle\n", "through a link to a folder")
expect(read("full.txt") == {"contents": [{**read("sub/b.c")["contents"][0], "uri": uri("full.txt"), "mimeType": "text/plain"}]}, read("full.txt"))
for path in ("chain", "whole/sub/../whole/full.txt", "sub/../chain", "whole/indir/b.c", "x/../sub/./b.c", "sub/deep/../../sub/b.c",
             "twice.txt", "backdir/b.c"):
    expect(read(path).get("contents", [{"text": ""}])[0]["text"].startswith("int main"), path)
for path in ("aliased.txt", "around"):
    expect(read(path).get("contents", [{"text": ""}])[0]["text"].startswith("one"), path)
expect(client.request("resources/read", {"uri": uri("a.txt").replace("file:///", "file://localhost/")})["contents"][0]["text"], "localhost")

# --- Nothing leads out. -------------------------------------------------------------------------
escapes = ["../outside/secret.txt", "sub/../../outside/secret.txt", "%2e%2e/outside/secret.txt", "..%2Foutside%2Fsecret.txt", "out.txt", "absolute.txt",
           "outdir/secret.txt", "up/outside/secret.txt", "up/root/a.txt", "up/alias/a.txt", "proc", "cwd/root/a.txt", "loop", "dangling", "fifo", "socket", "sub",
           "", ".", ".hidden", ".git/config", "sub/../.hidden", "peek", "a.txt%00", "%00", "a.txt/", "a.txt/.", "sub/b.c/", "chain/", "beside.txt", "full.hid", "full.out",
           "hid.back", "backdir/home", "whole/../a.txt/../../x", "a.txt/x", "nothing", "a%", "a%2", "a%zz", "x" * 5000,
           "a.txt?x", "a.txt#x", "sub//../../outside/secret.txt", "./../outside/secret.txt"] + ["device"] * has_device
for path in escapes:
    result = read(path)
    expect(result.get("code") == -32002, (path, result))
for whole in ["file:///etc/passwd", "file://" + outside + "/secret.txt", "file://" + root + "-other/x", "file://" + root, "file://other/" + root + "/a.txt",
              "file:" + root + "/a.txt", "http://x/a.txt", "a.txt", "/etc/passwd", "file://", "file:", ""]:
    result = client.request("resources/read", {"uri": whole})
    expect("contents" not in result, (whole, result))
for path, part in {"../outside/secret.txt": "points outside", "a.txt/": "remove the '/'", "sub/../a.txt/": "remove the '/'", "a.txt/.": "remove the '/'", "nothing/": "no such file",
                   "beside.txt": "points outside", "full.hid": "no such file", "full.out": "points outside", "hid.back": "no such file", "/etc/passwd": "outside", outside + "/secret.txt": "outside",
                   root + "-other/x": "outside", "out.txt": "points outside", "absolute.txt": "points outside", "outdir/secret.txt": "points outside",
                   "up/outside/secret.txt": "points outside", "proc": "points outside", "loop": "link", "dangling": "no such file",
                   "fifo": "not a regular file", "socket": "not a regular file", "sub": "a folder", "": "a folder", ".hidden": "no such file",
                   ".git/config": "no such file", "peek": "no such file", "a.txt\0": "NUL", "\0": "NUL", "a.txt\0/../../etc/passwd": "NUL",
                   "file:///etc/passwd": "outside", "file://" + root + "/%2e%2e/outside/secret.txt": "outside", "nothing": "no such file",
                   "binary.bin": "binary", "latin.txt": "not valid UTF-8", "x" * 5000: "too long", "y" * 300: "", "cwd/x": "points outside"}.items():
    client.fails("read_file", {"path": path}, part)
if has_device:
    client.fails("read_file", {"path": "device"}, "not a regular file")
for path in ("..", "/etc", "outdir", "up", "a.txt", "nothing", ".git", "a\0b"):
    client.fails("list_files", {"path": path}, "")
    client.fails("search", {"path": path, "pattern": "x"}, "")
expect("the outside" not in json.dumps(client.call("search", {"pattern": "outside"})), "search leads out")
expect("secret" not in json.dumps(client.call("search", {"pattern": "secret"})["structuredContent"]["matches"]), "search finds what is hidden")

def entries_of(path):
    return client.call("list_files", {"path": path})["structuredContent"]["entries"]


# --- read_file. ---------------------------------------------------------------------------------
lines = lambda **arguments: client.call("read_file", arguments)
result = lines(path="a.txt")
expect(result["structuredContent"] == {"path": "a.txt", "offset": 1, "lines": 3, "total": 3, "text": "one\ntwo\nthree\n"}, result)
expect(result["content"] == [{"type": "text", "text": "one\ntwo\nthree\n"}] and not result.get("isError"), result)
expect(lines(path="a.txt", offset=2, limit=1)["structuredContent"] == {"path": "a.txt", "offset": 2, "lines": 1, "total": 3, "text": "two\n"}, "a part")
expect(lines(path="a.txt", offset=2.0, limit=1e3)["structuredContent"]["lines"] == 2, "counts that are written as numbers")
expect(lines(path="a.txt", offset=1e300)["structuredContent"]["lines"] == 0, "a very large count")
expect(lines(path="a.txt", offset=4)["structuredContent"]["lines"] == 0, "behind the end")
expect(lines(path="no newline", offset=2)["structuredContent"]["text"] == "last", "the last line")
expect(lines(path="./sub//b.c")["structuredContent"]["path"] == "sub/b.c", "dots and slashes")
expect(lines(path="sub/../a.txt")["structuredContent"]["path"] == "a.txt" and lines(path="../a.txt").get("isError"), "two dots")
expect(lines(path=root + "/sub/../../root/a.txt")["structuredContent"]["path"] == "a.txt", "two dots in an absolute path")
expect(entries_of("sub/") == entries_of("sub") == entries_of("a/../sub/."), "a folder with a slash")
expect(lines(path=root + "/a.txt")["structuredContent"]["path"] == "a.txt", "an absolute path")
expect(lines(path=by_name["bad\ufffd\ufffdname"]["uri"])["structuredContent"]["text"] == "bad name\n", "a URI")
expect(lines(path="empty.txt")["structuredContent"] == {"path": "empty.txt", "offset": 1, "lines": 0, "total": 0, "text": ""}, "empty")
write("many", "".join(f"{number}\n" for number in range(2001)))
result = lines(path="many")
expect(result["structuredContent"]["lines"] == 2000 and result["structuredContent"]["total"] == 2001, "the limit")
expect(result["content"][0]["text"] == result["structuredContent"]["text"], "the text as it is")
note = lambda result: [one["text"] for one in result["content"][1:]]
expect(note(result) == ["[Lines 1 to 2000 of 2001. Read on with offset 2001, or set a larger limit.]"], result["content"][1:])
expect(note(lines(path="many", offset=7, limit=2)) == ["[Lines 7 to 8 of 2001. Read on with offset 9, or set a larger limit.]"], "a part")
expect(note(lines(path="many", offset=2001)) == [] and note(lines(path="many", limit=2001)) == [], "to the end")
expect(note(lines(path="many", offset=2002)) == ["[The file has 2001 lines.]"] and note(lines(path="empty.txt")) == [], "after the end")
expect(lines(path="many", limit=2001)["structuredContent"]["lines"] == 2001, "more than the limit")
os.remove(os.path.join(root, "many"))
for arguments in ({}, {"path": 1}, {"path": "a.txt", "offset": 0}, {"path": "a.txt", "limit": 0}, {"path": "a.txt", "more": 1}, {"path": "a.txt", "offset": 1.5}):
    expect(client.call("read_file", arguments).get("isError"), arguments)

# --- list_files. --------------------------------------------------------------------------------
entries = lambda **arguments: [one["path"] for one in client.call("list_files", arguments)["structuredContent"]["entries"]]
expect(entries(path="sub") == ["sub/b.c", "sub/back", "sub/deep", "sub/deep/c.md", "sub/exact", "sub/larger", "sub/self"], entries(path="sub"))
expect(entries(path="sub", depth=1) == ["sub/b.c", "sub/back", "sub/deep", "sub/exact", "sub/larger", "sub/self"], "depth 1")
expect(len(entries(path="sub", depth=2.0)) == 7 and len(entries(path="sub", depth=1e300)) == 7, "depth 2.0")
expect(entries(path="indir", depth=1)[0] == "indir/b.c", "through a link")
expect("indir" in entries(depth=1) and "indir/b.c" not in entries(), "links to folders are not followed")
expect(entries(glob="*.c") == ["sub/b.c"] and entries(glob="sub/*.c") == ["sub/b.c"] and entries(glob="**/*.md") == ["sub/deep/c.md"], "globs")
expect(entries(glob="s*/**/c.m[a-e]") == ["sub/deep/c.md"] and entries(glob="sub/?.c") == ["sub/b.c"] and entries(glob="*/c.md") == [], "globs")
expect(entries(glob="[!a]*.txt") == ["empty.txt", "full.txt", "in.txt", "latin.txt", "odd % #?&name.txt", "twice.txt"] and entries(glob="**/b.c") == ["sub/b.c"], entries(glob="[!a]*.txt"))
expect(entries(glob="sub/**/ack") == [] and entries(glob="**/exact") == ["sub/exact"] and entries(glob="\\*") == [] and entries(glob="[") == [], "globs")
client.fails("list_files", {"glob": "x" * 257}, "256")
client.fails("list_files", {"glob": "a\0b"}, "NUL")
bad = [one for one in client.call("list_files", {"depth": 1})["structuredContent"]["entries"] if "\ufffd" in one["path"]]
expect(bad[0]["uri"] == uri("bad%FF%FEname") and bad[0]["size"] == 9, bad)
before = time.monotonic()
write("/".join(["a" * 1] * 60) + "/" + "b" * 200, "deep\n")
expect(entries(glob="**/" + "*a" * 100 + "*") == [], "a hard glob")
expect(time.monotonic() - before < 2, "a hard glob takes long")

# --- search. ------------------------------------------------------------------------------------
def search(**arguments):
    result = client.call("search", arguments)["structuredContent"]
    return [(one["path"], one["line"]) for one in result["matches"] if one["path"] not in ("chain", "full.txt")], result


expect(search(pattern="needle")[0] == [("sub/deep/c.md", 1)], search(pattern="needle"))
expect(search(pattern="needle")[1]["skipped"] == 2, "binary files are skipped, and counted")
expect(search(pattern="NEEDLE", case=False)[0] == [("in.txt", 1), ("sub/b.c", 1), ("sub/deep/c.md", 1), ("twice.txt", 1)], "case")
expect(search(pattern="e", glob="a.txt")[0] == [("a.txt", 1), ("a.txt", 3)], "lines")
expect([one.get("uri") for one in search(pattern="bad name")[1]["matches"]] == [uri("bad%FF%FEname")], search(pattern="bad name"))
expect("uri" not in search(pattern="three")[1]["matches"][0], "a name that is UTF-8")
expect(search(pattern="last", path=".", glob="no*")[0] == [("no newline", 2)], "the last line")
expect(search(pattern="^[Nt]?.?h?ree$|^one$", regex=True, glob="a.txt")[0] == [("a.txt", 1), ("a.txt", 3)], "a regular expression")
expect(search(pattern="ï$", regex=True)[0] == [("no newline", 1)], "CR is no part of a line")
result = search(pattern="e", glob="a.txt", max_results=1)[1]
expect(len(result["matches"]) == 1 and result["truncated"] is True, result)
expect(search(pattern="e", glob="a.txt", max_results=2)[1]["truncated"] is False, "as many as there are")
result = search(pattern="xx", glob="larger")[1]["matches"]
expect(len(result) == 1 and len(result[0]["text"]) == 500 and result[0]["cut"], result)
write("wide", "x" * 499 + "é" + "y" * 10)
result = search(pattern="x", glob="wide")[1]["matches"]
expect(result[0]["text"] == "x" * 499, result)
client.fails("search", {"pattern": "(", "regex": True}, "")
client.fails("search", {"pattern": "a", "regex": True, "case": False}, "case")
expect(client.call("search", {"pattern": ""}).get("isError") and client.call("search", {}).get("isError"), "no pattern")
write("evil", "a" * 60 + "!\n")
result = search(pattern="^(a+)+$", regex=True, glob="evil")[1]
expect(result["givenUp"] == 1 or result["matches"] == [], result)
os.remove(os.path.join(root, "evil"))

# --- Much: everything else is answered meanwhile, and it can be cancelled. ----------------------
hard = "^([a-z]+ ?)+!$"  # on these lines every way to match it is tried, as far as the limit goes
for number in range(4):
    write(f"big/{number:02}", "lorem ipsum dolor sit amet!x\n" * 60)
before = time.monotonic()
number = client.ask("tools/call", {"name": "search", "arguments": {"pattern": hard, "regex": True}, "_meta": {"progressToken": "p"}})
slowest = 0
while number not in client.answers and time.monotonic() - before < 15:
    then = time.monotonic()
    expect(client.request("ping", seconds=5) == {}, "ping")
    slowest = max(slowest, time.monotonic() - then)
    time.sleep(0.005)
expect(slowest < 0.5, f"ping took {slowest} s")
result = client.answer(number, 15)["result"]["structuredContent"]
expect(result["matches"] == [] and result["givenUp"] == 240, result)
told = [one["params"]["progress"] for one in client.seen if one["method"] == "notifications/progress"]
expect(told and told == sorted(set(told)), ("progress", told))
client.seen.clear()
number = client.ask("tools/call", {"name": "search", "arguments": {"pattern": hard, "regex": True}})
client.request("ping")
client.notify("notifications/cancelled", {"requestId": number})
client.request("ping")
time.sleep(0.1)
client.request("ping")
expect(number not in client.answers, ("a cancelled search is answered", number, client.answers))
numbers = [client.ask("tools/call", {"name": "search", "arguments": {"pattern": hard, "regex": True}}) for _ in range(17)]
result = client.answer(numbers[-1])["result"]
expect(result.get("isError") and not client.answers, ("more than 16 at once", result, client.answers))
for number in numbers:
    client.notify("notifications/cancelled", {"requestId": number})
write("big/many", "lorem ipsum dolor sit amet!x\n" * 11)
client.fails("search", {"pattern": hard, "regex": True, "path": "big"}, "is too slow")

# --- Pages: a cursor is good whatever happens to the files. -------------------------------------
shutil.rmtree(os.path.join(root, "big"))
shutil.rmtree(os.path.join(root, "a"))
write("pages/00/0000.txt", "x")
for number in range(1, 5000):
    os.makedirs(f"{root}/pages/{number % 50:02}", exist_ok=True)
    os.link(root + "/pages/00/0000.txt", f"{root}/pages/{number % 50:02}/{number:04}.txt")  # much faster than a new one
resources, pages = listed(client)
names = [one["name"] for one in resources]
expect(len(names) == len(set(names)) == 5000 + 19 and pages == 51, (len(names), pages))
inside = [name for name in names if name.startswith("pages/")]
expect(inside == sorted(inside), "they are in order")
first = client.request("resources/list")
expect(len(first["resources"]) == 100, len(first["resources"]))
cursor = first["nextCursor"]
last = first["resources"][-1]["name"]
shutil.rmtree(os.path.join(root, os.path.dirname(last)))
write("pages/aa", "new")
write("aaa", "new")
result = client.request("resources/list", {"cursor": cursor})
following = [name for name in names if name > last and not name.startswith(os.path.dirname(last) + "/")]
expect([one["name"] for one in result["resources"]] == following[:100], "after what is gone")
write(last.rsplit("/", 1)[0], "a file where a folder was")
expect(client.request("resources/list", {"cursor": cursor})["resources"][0]["name"] == following[0], "a folder that is a file now")
mark, _, _ = cursor.partition("after=")
expect("resources" in client.request("resources/list", {"cursor": mark + "after=../../x"}), "a cursor only compares")
for bad in ("x", "after=", "after=%", "after=%00", "", "a" * 10000, "aftex=a"):
    expect(client.request("resources/list", {"cursor": mark + bad}).get("code") == -32602 or mark and not bad, bad)
many = os.path.join(root, "flat")
os.mkdir(many)
for number in range(9000):
    os.link(root + "/empty.txt", f"{many}/{number:05}")
flat = entries(path="flat")
expect(flat == [f"flat/{number:05}" for number in range(1000)] and client.call("list_files", {"path": "flat"})["structuredContent"]["truncated"], "1000 entries")
expect(search(pattern="x", path="flat")[1]["files"] == 9000, "more names than are held at once")
shutil.rmtree(many)
shutil.rmtree(os.path.join(root, "pages"))

# --- Completion. --------------------------------------------------------------------------------
def complete(value):
    return client.request("completion/complete", {"ref": {"type": "ref/resource", "uri": "file:///{+path}"}, "argument": {"name": "path", "value": value}})["completion"]["values"]


base = root[1:]
expect(complete("") == [base + "/"] and complete(base[:3]) == [base + "/"], complete(""))
expect(complete(base + "/sub/") == [base + "/sub/" + name for name in ("b.c", "back", "deep/", "exact", "larger", "self/")], complete(base + "/sub/"))
expect(complete(base + "/sub/b") == [base + "/sub/b.c", base + "/sub/back"], "a beginning")
for value in ("etc/", base + "/../", base + "/up/", base + "/.h", base + "/sub\0", "nothing"):
    expect(complete(value) == [], (value, complete(value)))
result = client.request("completion/complete", {"ref": {"type": "ref/resource", "uri": "file:///{+path}"}, "argument": {"name": "file", "value": ""}})
expect(result.get("code") == -32602 and "only 'path'" in result["message"], result)

# --- What changes. ------------------------------------------------------------------------------
def subscribe(path, method="subscribe"):
    expect(client.request("resources/" + method, {"uri": uri(path)}) == {}, (method, path))


def updated(path, what):
    news = client.news("notifications/resources/updated")
    expect(news and news["uri"] == uri(path), (what, path, news))


while client.news("notifications/resources/list_changed", 0.3) is not None:
    pass
for path in ("a.txt", "in.txt", "later.txt", "sub/deep/c.md", "out.txt"):
    subscribe(path)
expect(client.request("resources/subscribe", {"uri": "file:///etc/passwd"}) == {} or True, "outside")
write("a.txt", "changed\n")
updated("a.txt", "written")
expect(client.news("notifications/resources/updated", 0.3) is None, "told twice")
write("new.tmp", "replaced\n")
os.rename(root + "/new.tmp", root + "/a.txt")
updated("a.txt", "replaced")
write("a.txt", "changed after it was replaced\n")
updated("a.txt", "written again")
with open(root + "/sub/b.c", "a") as file:
    file.write("more\n")
updated("in.txt", "behind a link")
write("later.txt", "now\n")
updated("later.txt", "made")
os.remove(root + "/later.txt")
updated("later.txt", "removed")
subscribe("a.txt", "unsubscribe")
write("a.txt", "unseen\n")
expect(client.news("notifications/resources/updated", 0.3) is None, "unsubscribed")
two = uri("sub/deep/c.md").replace("file:///", "file://localhost/")
client.request("resources/subscribe", {"uri": two})
client.request("resources/unsubscribe", {"uri": two})
write("sub/deep/c.md", "still\n")
updated("sub/deep/c.md", "another URI of it was unsubscribed")
with open(outside + "/secret.txt", "a") as file:
    file.write("more\n")
expect(client.news("notifications/resources/updated", 0.3) is None, "what is outside is not watched")
while client.news("notifications/resources/list_changed", 0.3) is not None:
    pass
for what, change in {"made": lambda: write("fresh", "x"), "removed": lambda: os.remove(root + "/fresh"), "a folder": lambda: write("fresh2/x/y", "x"),
                     "in the new folder": lambda: write("fresh2/x/z", "x"), "moved": lambda: os.rename(root + "/fresh2", root + "/fresh3"),
                     "in the moved one": lambda: write("fresh3/x/w", "x")}.items():
    change()
    expect(client.news("notifications/resources/list_changed") is not None, what)
    while client.news("notifications/resources/list_changed", 0.15) is not None:
        pass
write(".more", "x")
write("fresh3/x/w", "only its content\n")
expect(client.news("notifications/resources/list_changed", 0.3) is None, "hidden ones don't count")

# --- Races: a file that is always another one, and a link that comes and goes. ------------------
stop = False


def juggle():
    while not stop:
        for target in ("sub/exact", "../outside/secret.txt", "fifo", "sub"):
            try:
                os.symlink(target, root + "/tmp-link")
                os.rename(root + "/tmp-link", root + "/racy")
            except OSError:
                pass
        write("torn", b"a" * 60000)
        write("torn", b"b" * 60000)


thread = threading.Thread(target=juggle)
thread.start()
seen, until = set(), time.monotonic() + 1
while time.monotonic() < until:
    result = client.call("read_file", {"path": "racy"})
    seen.add(result["content"][0]["text"][:40])
    expect("outside" not in json.dumps(result).replace("points outside", "").replace("the outside", "OUTSIDE") and "OUTSIDE" not in str(seen), result)
    result = client.call("read_file", {"path": "torn"})
    text = result["content"][0]["text"]
    expect(result.get("isError") or len(set(text)) <= 1, "a torn file")
stop = True
thread.join()
expect(len(seen) > 1, seen)
expect(client.close() == 0, client.process.returncode)
expect(client.errors == "", client.errors)

# --- Limits and options. ------------------------------------------------------------------------
client = Client([*serve, "--max-size", "1000", "--hidden"])
expect("contents" in client.request("resources/read", {"uri": uri("sub/exact")}), "as large as allowed")
result = client.request("resources/read", {"uri": uri("sub/larger")})
expect("1001 bytes" in result.get("message", "") and result["code"] == -32603, result)
client.fails("read_file", {"path": "sub/larger"}, "1001 bytes")
expect(client.call("search", {"pattern": "xx", "path": "sub"})["structuredContent"]["skipped"] == 1, "too large")
expect(client.call("read_file", {"path": ".hidden"})["structuredContent"]["text"] == "secret\n", "hidden")
expect(client.call("read_file", {"path": "peek"})["structuredContent"]["text"] == "secret\n", "a link to what is hidden")
expect(".git/config" in [one["name"] for one in client.request("resources/list")["resources"]], "hidden ones are listed")
expect(client.close() == 0, "code")

# Files of more than 10 MiB are not read unless --max-size says otherwise; 0 means no limit.
with open(os.path.join(root, "sub/huge"), "w") as file:
    file.write("x" * ((10 << 20) + 1))
client = Client(serve)
client.fails("read_file", {"path": "sub/huge"}, "the file has 10485761 bytes, the limit is 10485760: ask the person who runs the server to raise --max-size")
expect(client.close() == 0, "code")
for size in ("0", "11M"):
    client = Client([*serve, "--max-size", size])
    result = client.call("read_file", {"path": "sub/huge"})
    expect(len(result["structuredContent"]["text"]) == (10 << 20) + 1, str(result)[:200])
    expect(client.close() == 0, "code")
os.unlink(os.path.join(root, "sub/huge"))

# A kernel that cannot confine a path.
def without_openat2(number):
    def limit():
        libc = ctypes.CDLL(None, use_errno=True)
        # Load the number of the call; openat2 (437 everywhere) fails, all others are done.
        code = b"".join(struct.pack("HBBI", *one) for one in [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | number), (0x06, 0, 0, 0x7FFF0000)])
        room = ctypes.create_string_buffer(code)
        filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(room)))
        libc.prctl(38, 1, 0, 0, 0)
        if libc.prctl(22, 2, filter, 0, 0) != 0:
            os._exit(99)
    return limit


for number in (errno.ENOSYS, errno.EPERM):
    client = Client(serve, preexec_fn=without_openat2(number))
    expect(client.call("read_file", {"path": "sub/deep/c.md"})["structuredContent"]["text"] == "still\n", "without openat2")
    for path in ("in.txt", "indir/b.c", "chain", "whole/full.txt", "twice.txt", "backdir/b.c"):
        expect("int main" in client.call("read_file", {"path": path})["structuredContent"]["text"], path)
    for path in ("out.txt", "absolute.txt", "outdir/secret.txt", "up/root/a.txt", "proc", "peek", "fifo", "sub", "y" * 300, "loop", "hid.back", "full.hid",
                 "full.out", "beside.txt", "a.txt/"):
        expect(client.call("read_file", {"path": path}).get("isError"), path)
        expect("code" in client.request("resources/read", {"uri": uri(path)}), path)
    expect("the outside" not in json.dumps(client.call("search", {"pattern": "the outside"})["structuredContent"]), "search leads out")
    names = [one["name"] for one in client.request("resources/list")["resources"]]
    expect("sub/b.c" in names and "in.txt" in names and "out.txt" not in names and "peek" not in names, names)
    expect(client.close() == 0, "code")

# By another name of the folder.
client = Client([program, "serve", "files", os.path.join(work, "alias", "")])
for path in ("aliased.txt", os.path.join(work, "alias", "a.txt"), root + "/a.txt", "file://" + os.path.join(work, "alias", "a.txt")):
    expect(client.call("read_file", {"path": path})["structuredContent"]["total"] > 0, path)
expect(client.close() == 0, "code")

# More folders than are watched.
wide = os.path.join(work, "wide")
os.mkdir(wide)
for number in range(4095):
    os.mkdir(f"{wide}/{number:04}")
for more in (False, True):
    if more:
        os.mkdir(wide + "/last")
    client = Client([program, "serve", "files", wide])
    time.sleep(0.5)
    client.request("ping")
    with open(wide + f"/0000/{more}", "w"):
        pass
    expect(client.news("notifications/resources/list_changed") is not None, "many folders")
    expect(client.close() == 0 and client.errors.count("cannot watch all folders") == more, (more, client.errors))
shutil.rmtree(wide)

# The client leaves in the middle of something.
client = Client(serve)
write("big", "lorem ipsum dolor sit amet!x\n" * 250)
client.ask("tools/call", {"name": "search", "arguments": {"pattern": hard, "regex": True}})
before = time.monotonic()
expect(client.close() == 0 and time.monotonic() - before < 1, "leaving")

# The modern era.
meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
client = Client(serve, revision=None)
result = client.request("resources/list", {"_meta": meta})
expect(result.get("resultType") == "complete" and len(result["resources"]) > 5, result)
result = client.request("tools/call", {"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": meta})
expect(result["structuredContent"]["text"] == "unseen\n", result)
result = client.request("resources/read", {"uri": uri("../x"), "_meta": meta})
expect(result["code"] == -32602, result)
number = client.ask("subscriptions/listen", {"notifications": {"resourcesListChanged": True, "resourceSubscriptions": [uri("a.txt")]}, "_meta": meta})
expect(client.news("notifications/subscriptions/acknowledged") is not None, "listen")
write("a.txt", "modern\n")
expect((client.news("notifications/resources/updated") or {}).get("uri") == uri("a.txt"), "updated, modern")
write("fresh4", "x")
expect(client.news("notifications/resources/list_changed") is not None, "list_changed, modern")
expect(client.close() == 0, "code")

# Many clients at once.
path = os.path.join(work, "socket")
server = subprocess.Popen([*serve, "--listen", "unix:" + path], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
said = server.stderr.readline()  # it listens by now
clients = [Client(address=path) for _ in range(8)]
for client in clients:
    client.request("resources/subscribe", {"uri": uri("a.txt")})
numbers = [client.ask("tools/call", {"name": "read_file", "arguments": {"path": "a.txt"}}) for client in clients]
for client, number in zip(clients, numbers):
    expect(client.answer(number)["result"]["structuredContent"]["text"] == "modern\n", "many")
clients[0].close()
write("a.txt", "for all\n")
for client in clients[1:]:
    expect((client.news("notifications/resources/updated") or {}).get("uri") == uri("a.txt"), "updated for all")
server.terminate()
expect(server.wait(5) == 0, server.returncode)
expect((said + server.stderr.read()).decode().count("\n") == 1, "one line: where it listens")
expect(not os.path.exists(path), "the socket is left behind")
sys.exit(mcp_talk.failed)

"""Adds up what was collected before it, in another environment. With form = "full" all of the run
is on the standard input, and each line that comes back says what it is."""
import json
import sys

run = json.load(sys.stdin)
files = (run["result"] or {}).get("files", {})
print(json.dumps({"progress": {"message": f"{len(files)} files", "percentage": 100}}))
print(json.dumps({"result": {"total": sum(files.values())}}))
